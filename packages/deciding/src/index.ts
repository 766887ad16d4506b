export { EVALUATOR, sha256Hex } from '@orrery/contracts';
export { type ChangeableSchema, changeableSchemas, resultSchema } from './answers/changeable-schemas.js';
export { type ModelMessage, type Reading, readAnswer } from './answers/read-answer.js';
export { type StrictForm, strictFormOf } from './answers/strict-form.js';
export {
  type AnsweringEntry,
  answerOf,
  type CheckedChange,
  type CheckedChanges,
  changeKey,
  foldChange,
  genesisHash,
  hashOf,
  hasKeptState,
  type InstanceName,
  isUuid,
  type JournalEntryDraft,
  LLM_TEXTS,
  type SealedEntry,
  sameJson,
  sealEntry,
  stateChangesOf,
  storedChanges,
  uuidV7,
} from './entries/entry.js';
export { MAX_CHANGES } from './execution/apply-proposal.js';
export {
  checkEntrySize,
  checkStates,
  jsonBytes,
  noChanges,
  stateTooLarge,
  tooManyInstances,
} from './execution/check-changes.js';
export {
  applyMutation,
  decideExecution,
  readForExecution,
  recallFor,
  refuseInput,
} from './execution/execute-event.js';
export {
  type AppliedChange,
  type CompiledDefinition,
  type CompiledSchema,
  compileDefinition,
  compileSchema,
  type Decision,
  type Execution,
  type ExecutionLimits,
  type InstanceState,
  MAX_READ,
  type Needs,
  type ReadSet,
  type Seen,
  type Success,
  waitsForBeacon,
} from './execution/execution.js';
export { failedCodeOf, withFailedCode } from './execution/failed-code.js';
export { type PlannedFollowUp, recordTimers, timerIdOf } from './execution/follow-ups.js';
export {
  type HistorySearch,
  isRemembered,
  MEMORY_REACH,
  memoryOf,
  type PastEntry,
  type Recalled,
  type ReplayedEntry,
} from './execution/read-history.js';
export { isTooLargeToSearch, MAX_SEARCHED, MAX_SEARCHED_BYTES } from './execution/search-entities.js';
export {
  type BeaconChain,
  type ChainInfo,
  chainOf,
  createRoundCheck,
  hashOfChain,
  isSignatureOf,
  QUICKNET,
  QUICKNET_HASH,
  timeOfRound,
} from './randomness/beacon.js';
export { createSeedCheck, type SeedCounts } from './randomness/check-seeds.js';
export {
  beaconSecret,
  bytesOf,
  commitmentOf,
  type OpenCommitment,
  type RandomSource,
  seedOf,
} from './randomness/seed.js';
export { createDecisionCheck } from './rerun/check-decisions.js';
export { foldInstances } from './rerun/folded-instances.js';
export { createJudge, type DecisionCounts, type Verdict } from './rerun/judge.js';
export {
  agrees,
  compileKept,
  hashOfDefinition,
  isDefinitionOf,
  notRerunnable,
  type ReplayedSource,
  rerun,
} from './rerun/rerun.js';
export { type Exchange, isAnswerRerunnable, isExchangeOf, rerunAnswer } from './rerun/rerun-answer.js';
