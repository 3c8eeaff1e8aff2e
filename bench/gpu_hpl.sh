#!/usr/bin/env bash
# HPL on NVIDIA GPUs, in one call: checks small systems in every form on one rank and on grids of ranks, then measures beside cuBLAS
# and beside gemm's own rate; records go to the folder given. Needs the programs (cmake --build --preset release --target plumb-mpi
# plumb-serial). Exit status 1 when a system is not solved. SIZES: of the measured systems; BLOCKS: tried for each.
#
#   bench/gpu_hpl.sh OUTPUT_FOLDER
set -uo pipefail
out=$(realpath -m "${1:?usage: bench/gpu_hpl.sh OUTPUT_FOLDER}")
cd "$(dirname "$0")/.."
mkdir -p "$out"
gpus=$(nvidia-smi -L | wc -l)
bin=build/release/bin
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HWLOC_COMPONENTS=-opencl
failed=0

rates() { # RECORD LABEL: the rates and what was found, in one line
  python3 - "$@" <<'END'
import json, sys
try:
    case = json.load(open(sys.argv[1]))["cases"][0]
except (OSError, ValueError, IndexError) as error:
    sys.exit(f"{sys.argv[2]}: no record ({error})")
found = {metric["name"]: metric["value"] for metric in case.get("metrics", [])}
facts = case.get("facts") or {}
show = lambda name: "-" if found.get(name) is None else f"{found[name]:.4g}"
print(f"{sys.argv[2]:44} {case['outcome']['status']:7} GFLOP/s {show('performance'):>7} LU {show('performance_lu'):>7} "
      f"solve {show('performance_solve'):>7} | s {show('time_lu')} + {show('time_solve')} | row {facts.get('largest_row_residual')} "
      f"tile {facts.get('largest_tile_error')} {case['outcome'].get('reason') or ''}")
phases = {name: min((v for v in data["by_rank"][0] if v), default=0.0) for name, data in (case.get("phases") or {}).items()}
print("    " + ", ".join(f"{name} {seconds:.4g} s" for name, seconds in phases.items()))
END
}
one() { # LABEL WORDS...: on one rank
  local label=$1; shift
  timeout 120 $bin/plumb-serial hpl "$@" --progress none --format none --record "$out/$label.json" 2>"$out/$label.log" || { failed=1; tail -n 3 "$out/$label.log"; }
  rates "$out/$label.json" "$label"
}
many() { # RANKS LABEL WORDS...
  local ranks=$1 label=$2; shift 2
  timeout 120 mpirun --oversubscribe --bind-to none -np "$ranks" $bin/plumb-mpi hpl "$@" --share-devices --progress none --format none --record "$out/$label.json" 2>"$out/$label.log" || { failed=1; tail -n 3 "$out/$label.log"; }
  rates "$out/$label.json" "$label"
}

echo "== small systems, one rank"
for type in float double; do
  one cuda-$type-general --runtime cuda --size 2000 --block 128 --type $type --repetitions 2
  one cuda-$type-tall --runtime cuda --size 9000 --block 256 --type $type --repetitions 2
  one cuda-$type-odd --runtime cuda --size 777 --block 37 --type $type --depth 0 --matrix dominant --repetitions 2
  one cuda-$type-library --runtime cuda --size 2000 --variant library --type $type --repetitions 2
  one opencl-$type-general --runtime opencl --size 2000 --block 128 --type $type --repetitions 2
done
one refine-half-small --runtime cuda --size 3000 --block 128 --matrix dominant --refine half --repetitions 2
one refine-tf32-small --runtime cuda --size 3000 --block 128 --matrix dominant --refine tf32 --repetitions 2
one refine-float-small --runtime cuda --size 3000 --block 128 --refine float --repetitions 2

if command -v mpirun >/dev/null; then
  echo "== small systems on grids ($gpus GPUs)"
  for grid in 1x2 2x1; do
    many 2 staged-$grid --runtime cuda --transport staged --grid $grid --size 2000 --block 64 --repetitions 2
    if [ "$gpus" -ge 2 ]; then
      for transport in nccl peer; do
        many 2 $transport-$grid --runtime cuda --transport $transport --grid $grid --size 2000 --block 64 --type float --repetitions 2
      done
    fi
  done
  many 4 staged-2x2 --runtime cuda --transport staged --grid 2x2 --size 1000 --block 64 --type float --repetitions 2
fi

echo "== rates, one GPU"
for type in float double; do
  $bin/plumb-serial gemm --runtime cuda --type $type --size 8192 --time-limit 0.5 --progress none --format none --record "$out/gemm-$type.json" 2>/dev/null
  python3 -c "
import json
case = json.load(open('$out/gemm-$type.json'))['cases'][0]
print('gemm $type', [(m['name'], round(m['value'], 1), m['unit']) for m in case['metrics'][:1]])"
done
for size in ${SIZES:-65536}; do
  for type in float double; do
    for block in ${BLOCKS:-512 1024}; do
      one $type-$size-$block --runtime cuda --size $size --block $block --type $type --repetitions 2
    done
    one $type-$size-library --runtime cuda --size $size --block ${LIBRARY_BLOCK:-512} --type $type --variant library --repetitions 2
  done
  for factors in half tf32 float; do
    one refine-$factors-$size --runtime cuda --size $size --block 512 --matrix dominant --refine $factors --repetitions 2
  done
done
if [ "$gpus" -ge 2 ] && command -v mpirun >/dev/null; then
  echo "== rates, two GPUs"
  for transport in nccl staged; do
    for grid in 1x2 2x1; do
      many 2 two-$transport-$grid --runtime cuda --transport $transport --grid $grid --size 46080 --block 512 --type float --repetitions 2
    done
  done
  many 2 two-refine-half --runtime cuda --transport nccl --grid 1x2 --size 65536 --block 512 --matrix dominant --refine half --repetitions 2
fi
echo "took $SECONDS s"
exit $failed
