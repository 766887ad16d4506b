// Imported first, by what is started without a build: nothing here is newer than what old versions of Node can read.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `orrery: This is Node.js ${process.versions.node}, and Orrery needs 20.19 or newer: install one (https://nodejs.org) and run \`npm ci\` again.\n`,
  );
  process.exit(1);
}
