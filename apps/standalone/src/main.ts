import '@orrery/service-kit/check-node';
import { runService } from '@orrery/service-kit';
import { readStandaloneSettings } from './config.js';
import { startStandalone } from './start-standalone.js';

// For a person at a terminal: text, and only what needs attention, unless asked otherwise.
const env = { LOG_LEVEL: 'warn', LOG_FORMAT: 'text', ...process.env };
const write = (text: string): void => void process.stdout.write(text);

await runService({
  name: 'orrery',
  env,
  settings: (variables) => readStandaloneSettings(variables, write),
  start: startStandalone,
});
