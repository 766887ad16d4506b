export { createTestDatabase, type DatabaseTemplate, type TestDatabase } from './database.js';
export { describeWithNats, describeWithRedis } from './describe-with.js';
export { FakeClock } from './fake-clock.js';
export { PATIENT } from './patient-release.js';
export { describeOccurrences, type OccurrenceRuntime, type Sending } from './suites/occurrences-suite.js';
