// What AMD's xrt::xclbin reads of a bitstream, a line each, in the file's order.
#include <experimental/xrt_xclbin.h>

#include <cstddef>
#include <iostream>

int main(int, char** words) {
  const xrt::xclbin file{std::string(words[1])};
  std::cout << "header " << offsetof(axlf, m_header) << ' ' << offsetof(axlf, m_header.m_platformVBNV) << ' '
            << offsetof(axlf, m_header.m_numSections) << ' ' << offsetof(axlf, m_sections) << '\n';
  std::cout << "sizes " << sizeof(axlf_section_header) << ' ' << sizeof(ip_data) << ' ' << sizeof(clock_freq) << ' '
            << sizeof(mem_data) << '\n';
  std::cout << "board " << file.get_xsa_name() << '\n';
  for (const auto& kernel : file.get_kernels()) std::cout << "kernel " << kernel.get_name() << '\n';
  for (const auto& unit : file.get_ips()) std::cout << "copy " << unit.get_name() << '\n';
  for (const auto& bank : file.get_mems())
    std::cout << (bank.get_used() ? "memory " : "unused ") << bank.get_tag() << ' ' << bank.get_size_kb() << '\n';
  for (const auto& kernel : file.get_kernels())
    for (const auto& argument : kernel.get_args())
      for (const auto& bank : argument.get_mems())
        std::cout << "bank " << kernel.get_name() << ' ' << argument.get_name() << ' ' << bank.get_tag() << '\n';
  const axlf_section_header* clocks = xclbin::get_axlf_section(file.get_axlf(), CLOCK_FREQ_TOPOLOGY);
  if (clocks == nullptr) return 0;
  const auto* all = file.get_axlf_section<const clock_freq_topology*>(CLOCK_FREQ_TOPOLOGY);
  for (int i = 0; i < all->m_count; ++i)
    std::cout << "clock " << all->m_clock_freq[i].m_name << ' ' << all->m_clock_freq[i].m_freq_Mhz << '\n';
}
