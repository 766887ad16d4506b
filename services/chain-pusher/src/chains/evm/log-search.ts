import { type Hex, keccak256, numberToHex, padHex } from 'viem';
import { ServersAway } from '../../core/chains/chain-port.js';
import { BATCH, call, countFrom, type JsonRpc, RpcFailure } from '../rpc/json-rpc.js';

/** Tries in a row without an answer, after which what is asked for is taken as not to be found. */
const MAX_TRIES = 6;
/** How often the pause after such a try doubles. */
const MAX_DOUBLED = 10;
/** keccak256 of the signature of `Pushed`. */
const PUSHED = keccak256(new TextEncoder().encode('Pushed(address,uint64,bytes32,bytes32,bytes)'));
/** What servers say that do not search as far as this, some of them with the code of those that are asked too much. */
const REFUSAL = /range|results|response size/i;

interface Log {
  readonly address: string;
  readonly transactionHash: string;
  readonly removed?: boolean;
}

interface LogSearchOptions {
  readonly rpc: Pick<JsonRpc, 'answersOfAny'>;
  /** The registry. */
  readonly contract: string | undefined;
  /** The first pause after a try without an answer; it doubles. */
  readonly retryMs: number;
}

/**
 * Finds the transactions of pushes by the registry's logs, which servers may not search, or not always. One that refuses has
 * answered. One that is busy, does not answer, or lags is asked again later, `MAX_TRIES` times: it may answer all other
 * calls, so neither the lane nor the chain waits for it for ever.
 */
export class LogSearch {
  #tries = 0;
  #askAgainAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: LogSearchOptions) {}

  /**
   * The transaction of each push, null where it cannot be found. Those from the first on that is asked for later are left out.
   * `head`: the block that a server has to have reached. @throws Error where none is left
   */
  async transactionsOf(
    deployment: string,
    numbers: readonly number[],
    head: number,
    signal: AbortSignal,
  ): Promise<(string | null)[]> {
    const all: (string | null)[] = [];
    for (let from = 0; all.length === from && from < numbers.length; from += BATCH - 1)
      all.push(...(await this.#search(deployment, numbers.slice(from, from + BATCH - 1), head, signal)));
    if (all.length === 0 && numbers.length > 0)
      throw new Error('the logs of the registry cannot be searched at present');
    return all;
  }

  async #search(deployment: string, numbers: readonly number[], head: number, signal: AbortSignal) {
    const isDue = performance.now() >= this.#askAgainAt;
    const found = isDue ? await this.#ask(deployment, numbers, head, signal) : [];
    if (isDue) this.#note(found.length, numbers.length);
    const hasGivenUp = this.#tries >= MAX_TRIES;
    return hasGivenUp ? numbers.map((_, at) => found[at] ?? null) : found;
  }

  #note(found: number, asked: number): void {
    const isWhole = found === asked;
    this.#tries = isWhole ? 0 : found > 0 ? 1 : this.#tries + 1;
    const pauseMs = this.options.retryMs * 2 ** Math.min(this.#tries, MAX_DOUBLED);
    this.#askAgainAt = isWhole ? Number.NEGATIVE_INFINITY : performance.now() + pauseMs;
  }

  /** Ends before the first push of which there is no answer. */
  async #ask(deployment: string, numbers: readonly number[], head: number, signal: AbortSignal) {
    const topic = (value: Hex) => padHex(value, { size: 32 });
    const all = { address: this.options.contract, fromBlock: '0x0', toBlock: 'latest' };
    const asked = numbers.map((number) => {
      const topics = [PUSHED, topic(deployment as Hex), topic(numberToHex(number))];
      return call('eth_getLogs', { ...all, topics });
    });
    const [reached, ...answers] = await this.options.rpc
      .answersOfAny([call('eth_blockNumber'), ...asked], signal)
      .catch((error: unknown) => [failureIn(error), ...numbers.map(() => failureIn(error))]);
    const isBehind = reached instanceof Error ? isPassing(reached) : countFrom(reached) < head;
    if (isBehind) return [];
    const end = answers.findIndex(isPassing);
    return answers.slice(0, end < 0 ? undefined : end).map((answer) => this.#transactionIn(answer));
  }

  #transactionIn(answer: unknown): string | null {
    if (answer instanceof RpcFailure) return null;
    const log = (answer as Log[]).find((one) => this.#isOfRegistry(one));
    return log?.transactionHash.toLowerCase() ?? null;
  }

  /** A server may tell of logs that nobody asked for, and of those of blocks that the chain took back. */
  #isOfRegistry({ address, removed, transactionHash }: Log): boolean {
    return (
      address.toLowerCase() === this.options.contract?.toLowerCase() &&
      removed !== true &&
      /^0x[\da-f]{64}$/i.test(transactionHash)
    );
  }
}

/** A server that refuses has answered, though others are away. */
function failureIn(error: unknown): Error {
  if (!(error instanceof ServersAway)) throw error;
  return error.cause instanceof RpcFailure ? error.cause : error;
}

const isPassing = (answer: unknown): boolean =>
  answer instanceof RpcFailure ? answer.isPassing && !REFUSAL.test(answer.message) : answer instanceof Error;
