// Run before the build, so it uses nothing that is built: a port in use is known at once, not after the build.
import { createServer } from 'node:net';

const { PORT, HOST } = process.env;
const [port, host] = [Number(PORT || 3000), HOST || '127.0.0.1'];

// What is no port is refused at the start, with everything else that is wrong.
if (Number.isInteger(port) && port > 0 && port < 65_536) {
  const server = createServer()
    .once('error', ({ code }) => {
      // Other errors too are named at the start.
      if (code !== 'EADDRINUSE') return;
      const advice = `stop the program that holds it or set PORT to another port, as in \`PORT=${port + 1} npm start\`, for a second Orrery in this folder \`ORRERY_DATA_DIR=.orrery-2 PORT=${port + 1} npm start\``;
      process.stderr.write(`orrery: Port ${port} on ${host} is in use: ${advice}.\n`);
      process.exitCode = 1;
    })
    .listen(port, host, () => server.close());
}
