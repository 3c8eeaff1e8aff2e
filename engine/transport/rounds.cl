// All rounds of a lane through a port (port.hpp), `window` of them under way together.
PORT_KERNEL(rounds)(ulong count, ulong window, PORT) {
  PORT_OPEN;
  ulong in_window = 0;  // a division takes a GPU as long as half of a short message
  for (ulong i = 0; i < count; ++i) {
    if (PORT_RECEIVES_FIRST) {
      PORT_EXPECT(i);
    }
    PORT_SEND(i);
    if (++in_window == window) {
      in_window = 0;
      if (!PORT_RECEIVES_FIRST) {
        PORT_EXPECT(i);
      }
    }
  }
  PORT_CLOSE;
}
