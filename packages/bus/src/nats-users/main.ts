import { parseArgs } from 'node:util';
import { DEFAULT_PREFIX } from '../nats/subjects.js';
import { usersFile } from './users-file.js';

const { values } = parseArgs({
  options: {
    prefix: { type: 'string', default: DEFAULT_PREFIX },
    subscriber: { type: 'string', multiple: true, default: [] },
  },
});
process.stdout.write(usersFile(values.prefix, values.subscriber));
