import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { recordExchanges } from './record-exchanges.js';

/**
 * Loaded into a program before its own code (`node --import`): writes what it answers over HTTP, an exchange a line, to a
 * file of its own in the folder `RECORD_EXCHANGES`. At once, so that what was answered is there after a SIGKILL too.
 */
const folder = process.env['RECORD_EXCHANGES'];
if (folder !== undefined) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${process.pid}.jsonl`);
  recordExchanges((exchange) => appendFileSync(file, `${JSON.stringify(exchange)}\n`));
}
