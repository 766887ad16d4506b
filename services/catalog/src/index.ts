export { type CatalogConfig, type CatalogLimits, readCatalogConfig } from './config.js';
export { type CatalogDependencies, type RunningCatalog, startCatalog } from './service.js';
