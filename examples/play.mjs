// Plays an example against a running server: npm run example league
const EXAMPLES = ['league', 'market', 'village', 'agent', 'dice'];
const [name] = process.argv.slice(2);

if (EXAMPLES.includes(name)) {
  await import(`./${name}/play.mjs`).catch((error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
} else {
  process.stderr.write(`usage: npm run example ${EXAMPLES.join('|')}\n`);
  process.exitCode = 2;
}
