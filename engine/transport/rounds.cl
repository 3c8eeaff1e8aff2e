// Runs all rounds of a lane through a port (port.hpp), `window` of them at a time.
PORT_KERNEL(rounds)(ulong count, ulong window, PORT) {
  PORT_OPEN;
  ulong in_window = 0;  // avoids a division, which costs a GPU half of a short message
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
