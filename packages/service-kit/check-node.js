// Imported first, by what is started without a build: nothing here is newer than what old versions of Node can read.
const [major] = process.versions.node.split('.').map(Number);
if (major < 24) {
  process.stderr.write(
    `orrery: This is Node.js ${process.versions.node}, and Orrery needs 24 or newer. \`npm ci\` brings it for \`npm start\` and \`npm run orrery\`; to run the programs directly, install it (https://nodejs.org).\n`,
  );
  process.exit(1);
}
