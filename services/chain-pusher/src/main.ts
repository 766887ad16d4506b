import '@orrery/service-kit/check-node';
import { runServiceProcess } from '@orrery/service-host';
import { readChainPusherConfig } from './config.js';
import { startChainPusher } from './service.js';

await runServiceProcess({
  name: 'chain-pusher',
  env: process.env,
  readConfig: readChainPusherConfig,
  start: startChainPusher,
  defaultHealthPort: 3104,
});
