// The kernels of single_work_item.cl for boards, as runtime hls compiles them: one text after the other.
#include "shallow_water.cl"
#include "single_work_item.cl"
