import { locateBinaries } from './binaries/binaries.js';
import { makeTemplate } from './make-template.js';

/** Part of the build: makes the template. Without one, a first start runs initdb itself, or says why it cannot. */
try {
  await makeTemplate(await locateBinaries());
} catch (error) {
  process.stdout.write(`No template of a PostgreSQL cluster was made: ${(error as Error).message}\n`);
}
