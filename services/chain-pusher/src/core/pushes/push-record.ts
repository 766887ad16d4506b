import type { PushProblem, PushRecord, PushStatus } from '@orrery/contracts';

/** A push with what its submission and its lane say about it. */
export interface PushRow {
  readonly chain: string;
  readonly number: number;
  readonly history_id: string;
  readonly seq: number;
  readonly digest: string;
  readonly truncated: boolean;
  readonly head: PushRecord['head'] | null;
  readonly status: PushStatus;
  readonly error: PushProblem | null;
  readonly transaction: string | null;
  readonly block: number | null;
  readonly stop: string | null;
  readonly waits_for: string | null;
  /** Of a transaction that waits for its block, transactions of the signer that the chain has to include before it. */
  readonly earlier: number | null;
}

const EARLIER = 'earlier_transactions';

/** What a queued push waits for, where it is not its turn alone. */
const WAITS: Readonly<Record<string, string>> = {
  failed: 'An earlier push of the deployment to this chain failed. Retry or skip that one.',
  chain_ahead: 'The chain holds other pushes under these numbers. The operator has to adopt them.',
  adopting:
    'The operator lets the pushes of the deployment go on after the last one of the chain. This is under way.',
  chain_behind:
    'The chain holds fewer pushes of the deployment than were on it. They are compared again; where that changes nothing, the operator has to adopt them.',
  quota_exceeded: "The account's pushes of today are used up. The push is sent after 00:00 UTC.",
  head_unread: 'The head of the hour could not be read yet. It is tried again.',
  not_compared: 'What the chain holds of the deployment could not be read yet. It is tried again.',
  chain_unconfigured: 'The operator has not configured this chain.',
  chain_unavailable: 'The chain cannot be used at present. The push is sent as soon as it can.',
};

/** A push as it is shown. `chainObstacle`: what keeps all pushes of its chain waiting. */
export function toPushRecord(
  row: PushRow,
  explorerUrl: string | undefined,
  chainObstacle?: string | undefined,
): PushRecord {
  const obstacle = row.stop ?? row.waits_for ?? chainObstacle;
  const waiting = row.status === 'queued' && obstacle !== undefined;
  const isBehind = row.status === 'submitted' && row.error === null && (row.earlier ?? 0) > 0;
  const behind = {
    code: EARLIER,
    detail: `A chain includes the transactions of a signer in their order; ${row.earlier} before this one are in no block yet.`,
  };
  return {
    historyId: row.history_id,
    seq: row.seq,
    chain: row.chain,
    number: row.number,
    status: row.status,
    transaction: row.transaction,
    block: row.block,
    explorerUrl: row.transaction === null ? null : transactionUrl(explorerUrl, row.transaction),
    error: waiting ? { code: obstacle, detail: WAITS[obstacle] ?? obstacle } : isBehind ? behind : row.error,
    truncated: row.truncated,
    digest: row.digest,
    ...(row.head && { head: row.head }),
  };
}

/** `explorerUrl` may hold `{transaction}`; otherwise `/tx/…` is added to it. Null without an explorer. */
function transactionUrl(explorerUrl: string | undefined, transaction: string): string | null {
  if (explorerUrl === undefined) return null;
  return explorerUrl.includes('{transaction}')
    ? explorerUrl.replace('{transaction}', transaction)
    : `${explorerUrl.replace(/\/$/, '')}/tx/${transaction}`;
}
