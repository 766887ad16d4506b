import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { httpOperations } from '@orrery/contracts';
import { openApiDocument } from './document.js';

/** Writes `openapi.json` at the root of the repository. */
const target = fileURLToPath(new URL('../../../../../openapi.json', import.meta.url));
await writeFile(target, `${JSON.stringify(openApiDocument(httpOperations), null, 2)}\n`);
