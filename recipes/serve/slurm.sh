# step NAME FUNCTION OPTION..: one job step that runs FUNCTION in each of its tasks. Steps share
# their nodes; which GPUs each uses is said in FUNCTION. STEP_OPTIONS: further options of srun.
read -ra step_options <<<"${STEP_OPTIONS:-}"
step() {
  local name=$1 run=$2
  shift 2
  start "$name" srun --overlap --cpu-bind=none --kill-on-bad-exit=1 "${step_options[@]}" "$@" \
    bash -c "$(declare -f "$run"); $run"
}
