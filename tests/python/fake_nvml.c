// Two GPUs of 250 W as libnvidia-ml.so.1 shows them. The first is lost after LOST_AFTER readings of its counter.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  char legacy[16];
  unsigned domain, bus, device, ids, subsystem;
  char address[32];
} Pci;

typedef struct {
  unsigned field, scope;
  long long timestamp, latency;
  int type, status;
  unsigned long long value;
} Field;

enum { lost = 15, watts = 250 };
static char gpus[2];
static int readings;

static int is_lost(void* gpu) {
  const char* most = getenv("LOST_AFTER");
  return gpu == &gpus[0] && most != NULL && readings > atoi(most);
}

int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 2, 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned number, void** gpu) { return *gpu = &gpus[number], 0; }
int nvmlDeviceGetPciInfo_v3(void* gpu, Pci* pci) {
  memset(pci, 0, sizeof *pci);
  return pci->bus = gpu == &gpus[0] ? 0x18 : 0x2a, 0;
}

// In mJ, every 20 ms.
int nvmlDeviceGetTotalEnergyConsumption(void* gpu, unsigned long long* energy) {
  struct timespec now;
  if (gpu == &gpus[0]) ++readings;
  if (is_lost(gpu)) return lost;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double updated = floor((now.tv_sec + 1e-9 * now.tv_nsec) / 0.02) * 0.02;
  return *energy = (unsigned long long)(watts * 1e3 * updated), 0;
}

int nvmlDeviceGetFieldValues(void* gpu, int count, Field* fields) {
  for (int i = 0; i < count; ++i) {
    fields[i].status = is_lost(gpu) ? lost : 0;
    fields[i].value = 1000 * watts;
  }
  return 0;
}

int nvmlDeviceGetEnforcedPowerLimit(void* gpu, unsigned* milliwatts) { return *milliwatts = 700000, is_lost(gpu) ? lost : 0; }
int nvmlDeviceGetClockInfo(void* gpu, int kind, unsigned* mhz) { return *mhz = 1980 + kind, is_lost(gpu) ? lost : 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void* gpu, unsigned long long* reasons) {
  return *reasons = 4, is_lost(gpu) ? lost : 0;
}
const char* nvmlErrorString(int status) { return status == lost ? "GPU is lost" : "Success"; }
