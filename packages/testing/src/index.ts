export { createTestDatabase, type DatabaseTemplate, type TestDatabase } from './database.js';
export { describeWithNats, describeWithRedis } from './describe-with.js';
export { FakeClock } from './fake-clock.js';
export { PATIENT } from './patient-release.js';
