export { followAccounts, learnAccount } from './accounts/follow-accounts.js';
export { followJournal, type JournalFollower } from './journals/follow-journal.js';
export { readHeads } from './journals/head-poll.js';
export type { FollowJournalOptions } from './journals/options.js';
export { openBackends } from './process/open-backends.js';
export { runServiceProcess, type ServiceProcess } from './process/run-service-process.js';
export type { ServiceDependencies } from './process/service-dependencies.js';
export { readChainFile } from './settings/chain-file.js';
export { readContentLimits } from './settings/read-content-limits.js';
