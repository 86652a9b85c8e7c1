#!/usr/bin/env bash
# Runs `linebounce gate` with the settings in GATE_*, as action.yml passes them. All reports go to $GATE_OUTPUT, the Markdown also
# to the job's summary. The exit code is the gate's.
set -euo pipefail

output=${GATE_OUTPUT:-linebounce-gate}
mkdir -p "$output"
# Lists of paths and machines are separated by spaces.
read -ra base <<<"$GATE_BASE"
read -ra head <<<"$GATE_HEAD"
read -ra machines <<<"${GATE_MACHINES:-}"
read -ra findings <<<"${GATE_FINDINGS:-}"

options=()
[[ -z ${GATE_BUDGET:-} ]] || options+=(--budget "$GATE_BUDGET")
[[ -z ${GATE_CPUS:-} ]] || options+=(--cpus "$GATE_CPUS")
[[ -z ${GATE_TIMES:-} ]] || options+=(--times "$GATE_TIMES")
[[ -z ${GATE_ARGUMENTS:-} ]] || options+=("--arguments=$GATE_ARGUMENTS")
for machine in "${machines[@]}"; do options+=(--machine "$machine"); done
for file in "${findings[@]}"; do options+=(--findings "$file"); done

code=0
linebounce gate --base "${base[@]}" --head "${head[@]}" "${options[@]}" --annotations -o "$output/recordings" \
  --sarif "$output/gate.sarif" --junit "$output/gate.xml" --json "$output/gate.json" --markdown "$output/gate.md" || code=$?
if [[ -n ${GITHUB_STEP_SUMMARY:-} && -f $output/gate.md ]]; then cat "$output/gate.md" >>"$GITHUB_STEP_SUMMARY"; fi
exit "$code"
