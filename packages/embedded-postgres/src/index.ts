export { watchProcess } from './process/watchdog.js';
export { findRunningPostgres } from './server/existing-server.js';
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './start-postgres.js';
