import '@orrery/service-kit/check-node';
import { runServiceProcess } from '@orrery/service-host';
import { readCatalogConfig } from './config.js';
import { startCatalog } from './service.js';

await runServiceProcess({
  name: 'catalog',
  env: process.env,
  readConfig: readCatalogConfig,
  start: startCatalog,
  defaultHealthPort: 3101,
});
