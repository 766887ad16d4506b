export type { Deployment, EntityInstance, InstancesOptions } from './deployments/deployment.js';
export type {
  DryRunAnswer,
  DryRunOptions,
  ExecutionAnswer,
  ExecutionRequest,
  Executions,
  JsonObject,
  TryRequest,
} from './deployments/executions.js';
export type { PublishedDeployment } from './deployments/published.js';
export type { LiveEntry, Push, StreamEvent, StreamOptions } from './deployments/stream.js';
export { type FieldProblem, OrreryError, type OrreryErrorCode } from './errors/orrery-error.js';
export type { Payer, PaymentRequired, PaymentRequirement, Settlement } from './errors/payments.js';
export type { components, paths } from './generated/api.js';
export type { ErrorCode } from './generated/operations.js';
export { INNER_KINDS } from './journal/inner-kinds.js';
export type {
  DeploymentPath,
  HistoryEntry,
  HistoryFilter,
  HistoryOptions,
  JournalOptions,
} from './journal/journal.js';
export { createOrrery, type Orrery } from './orrery.js';
export type {
  EthereumProvider,
  EvmWallet,
  PublicAnswer,
  PublicExecution,
  PublicExecutions,
  PublicTarget,
  SignedMessage,
  SigningWallet,
} from './public/public-executions.js';
export { base58, injectedWallet } from './public/public-executions.js';
export type {
  CursorPagination,
  ItemOf,
  ListArgument,
  ListPath,
  Page,
  Pagination,
  PaginationOf,
} from './requests/lists.js';
export type { RequestOptions } from './requests/operation-types.js';
export type { ClientOptions } from './requests/requests.js';
export { type Checkpoint, CheckpointError, type CheckpointFault } from './verification/checkpoint.js';
export type {
  CheckedDecisions,
  DrawVerdict,
  NotCheckedSeed,
  NotRerun,
} from './verification/decision-check.js';
export type {
  CheckpointOptions,
  CheckpointPath,
  CoverOptions,
  SignedCheckpoint,
} from './verification/follow-checkpoints.js';
export type { Divergence, VerifiedHistory, VerifyOptions } from './verification/verify-history.js';
export type {
  CountedOutcome,
  Difference,
  ModelCost,
} from './what-if/compare-entries.js';
export type { StateDifference } from './what-if/compare-states.js';
export type { Replay, ReplayComparison, ReplayRun } from './what-if/replay.js';
export type { ReplayEstimate } from './what-if/replay-estimate.js';
export type { ReplayOptions, ReplayRange } from './what-if/replay-options.js';
export type { EventComparison, EventTally, ReplayedEntry, Spread } from './what-if/replay-tally.js';
