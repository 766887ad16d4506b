import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { recordExchanges } from './record-exchanges.js';

/**
 * Loaded into a program before its own code (`node --import`). Writes its HTTP exchanges, one per line, to a file of its
 * own in the folder `RECORD_EXCHANGES`. Writes are synchronous, so that they are complete after SIGKILL too.
 */
const folder = process.env['RECORD_EXCHANGES'];
if (folder !== undefined) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${process.pid}.jsonl`);
  recordExchanges((exchange) => appendFileSync(file, `${JSON.stringify(exchange)}\n`));
}
