export { readChainFile } from './chain-file.js';
export { followAccounts, learnAccount } from './follow-accounts.js';
export { type FollowJournalOptions, followJournal, type JournalFollower } from './follow-journal.js';
export { openBackends } from './open-backends.js';
export { readContentLimits } from './read-content-limits.js';
export { runServiceProcess, type ServiceProcess } from './run-service-process.js';
export type { ServiceDependencies } from './service-dependencies.js';
