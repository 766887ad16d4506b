// Run before the build, so it uses nothing that is built: what is plainly wrong is known at once, not after the build.
import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:net';

const { PORT, HOST } = process.env;
const [port, host] = [Number(PORT || 3000), HOST || '127.0.0.1'];
const isPort = Number.isInteger(port) && port >= 0 && port < 65_536;

const problems = ['PAYMENTS_FILE', 'AI_MODELS_FILE', 'CHAINS_FILE'].flatMap((name) => {
  const file = process.env[name];
  if (!file) return [];
  try {
    accessSync(file, constants.R_OK);
    return [];
  } catch ({ code }) {
    return [
      `${name} (${file}: ${code === 'ENOENT' ? 'there is no such file' : `it cannot be read, ${code}`})`,
    ];
  }
});
if (!isPort) problems.unshift('PORT (not valid; expected a whole number from 0 to 65535)');

// What the files hold, and all other variables, are checked at the start.
if (problems.length > 0) {
  process.stderr.write(
    `orrery: Correct these environment variables and start again: ${problems.join('; ')}\n`,
  );
  process.exitCode = 1;
} else if (port > 0) {
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
