export { createTestDatabase, type DatabaseTemplate, type TestDatabase } from './fixtures/database.js';
export { describeWithNats, describeWithRedis } from './fixtures/describe-with.js';
export { FakeClock } from './fixtures/fake-clock.js';
export { describeOccurrences, type OccurrenceRuntime, type Sending } from './fixtures/occurrences-suite.js';
export { rowsRead } from './fixtures/rows-read.js';
export { PATIENT } from './programs/patient-release.js';
