# watch NAME URL: ends the launch when a worker that other nodes have a part in, or that only runs
# there, has not answered for LOST_TIMEOUT_S.
LOST_TIMEOUT_S=${LOST_TIMEOUT_S:-60}
declare -A seen=()
watch() {
  if healthy "$2" || [ -z "${seen[$1]:-}" ]; then
    seen[$1]=$SECONDS
  elif ((SECONDS - seen[$1] > LOST_TIMEOUT_S)); then
    fail "$1" "has not answered for $LOST_TIMEOUT_S s"
  fi
}

# need NODE0_ADDR NODE1_ADDR ..: addresses of the machines.
need() {
  local name
  for name in "$@"; do
    if [ -z "${!name:-}" ]; then
      say "$name is not set: say how the other nodes reach each one: ${*/%/=ADDRESS} $0"
      exit 2
    fi
  done
}

