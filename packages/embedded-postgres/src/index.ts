export { findRunningPostgres } from './running-server.js';
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './start-postgres.js';
export { type Watchdog, watchProcess } from './watchdog.js';
