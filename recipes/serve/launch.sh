# What follows needs bash 4.4, curl, setsid and awk. START_TIMEOUT_S bounds the wait for one worker
# (weights are loaded in it), STOP_TIMEOUT_S the wait for all to end by themselves.
START_TIMEOUT_S=${START_TIMEOUT_S:-3600}
STOP_TIMEOUT_S=${STOP_TIMEOUT_S:-30}
declare -A pid_of=()
names=()
mark="$$.$RANDOM$RANDOM.end"
mkdir -p logs

say() { printf '%s %s\n' "$(date +%H:%M:%S)" "$*" >&2; }

# start NAME COMMAND..: in the background, in a session of its own, its output in logs/NAME.log.
start() {
  local name=$1
  shift
  say "starting $name, log $PWD/logs/$name.log"
  SETPOINT_LAUNCH=$mark setsid "$@" >"logs/$name.log" 2>&1 </dev/null &
  pid_of[$name]=$!
  names+=("$name")
}

# fail NAME WHY: shows the end of its log and ends the launch.
fail() {
  if [ -f "logs/$1.log" ]; then
    say "$1 $2; the end of its log $PWD/logs/$1.log:"
    tail -n 20 "logs/$1.log" >&2
  else
    say "$1 $2; its log is on the node that runs it"
  fi
  exit 1
}

# Ends the launch when one of its processes has ended.
check() {
  local name status
  for name in "${names[@]}"; do
    kill -0 "${pid_of[$name]}" 2>/dev/null && continue
    status=0
    wait "${pid_of[$name]}" || status=$?
    fail "$name" "ended with exit code $status"
  done
}

healthy() { curl --silent --fail --output /dev/null --max-time 5 --noproxy '*' "$1"; }

# await NAME URL: until URL answers, at most START_TIMEOUT_S.
await() {
  local deadline=$((SECONDS + START_TIMEOUT_S))
  say "waiting for $1: $2"
  until healthy "$2"; do
    check
    if ((SECONDS >= deadline)); then fail "$1" "is not healthy after $START_TIMEOUT_S s"; fi
    sleep 0.5
  done
  check
  say "$1 is healthy"
}

# PIDs of what still runs: the sessions that start() opened, and what left them with our mark.
running() {
  cat /proc/[0-9]*/stat 2>/dev/null | awk -v ours=" ${pid_of[*]} " '{
    pid = $1; sub(/^.*\) /, "")
    if ($1 !~ /[ZX]/ && (index(ours, " " pid " ") || index(ours, " " $4 " "))) print pid }' || true
  grep -lsF "SETPOINT_LAUNCH=$mark" /proc/[0-9]*/environ | cut -d/ -f3 || true
}

# signal_all SIGNAL: once, to everything that runs.
signal_all() {
  local left
  mapfile -t left < <(running)
  ((${#left[@]} == 0)) || kill -s "$1" -- "${left[@]}" 2>/dev/null || true
}

# gone SECONDS: whether all has ended, waiting at most that long.
gone() {
  local deadline=$((SECONDS + $1))
  while [ -n "$(running)" ]; do
    ((SECONDS < deadline)) || return 1
    sleep 0.2
  done
}

# Runs however the script ends: no process of the launch stays behind.
finish() {
  local status=$?
  trap - EXIT
  trap '' INT TERM HUP
  if ((${#names[@]} > 0)); then
    say "ending all processes"
    signal_all TERM
    if ! gone "$STOP_TIMEOUT_S"; then
      say "killing what has not ended after $STOP_TIMEOUT_S s"
      signal_all KILL
      gone 10 || say "could not end: $(running | xargs)"
    fi
  fi
  exit "$status"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
