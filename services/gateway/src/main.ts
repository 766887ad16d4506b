import '@orrery/service-kit/check-node';
import { runServiceProcess } from '@orrery/service-host';
import { readGatewayConfig } from './config.js';
import { startGateway } from './service.js';

await runServiceProcess({
  name: 'gateway',
  env: process.env,
  readConfig: readGatewayConfig,
  start: startGateway,
  defaultHealthPort: 3100,
});
