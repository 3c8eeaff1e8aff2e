// Kernel of part launch in HLS C++: counts its launches.
extern "C" void count_launch(unsigned long* counter) {
#pragma HLS interface m_axi port = counter bundle = gmem
  counter[0] += 1;
}
