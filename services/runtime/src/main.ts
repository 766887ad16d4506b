import '@orrery/service-kit/check-node';
import { runServiceProcess } from '@orrery/service-host';
import { readRuntimeConfig } from './config.js';
import { startRuntime } from './service.js';

await runServiceProcess({
  name: 'runtime',
  env: process.env,
  readConfig: readRuntimeConfig,
  start: startRuntime,
  defaultHealthPort: 3102,
});
