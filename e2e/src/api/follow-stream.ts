import type { System } from '@orrery/testing/system';

export interface FollowedStream extends AsyncDisposable {
  /** The `seq` of the next execution that the stream tells of. */
  next(): Promise<number>;
  /** The next push that the stream tells of; executions before it are passed over. */
  nextPush(): Promise<{ chain: string; status: string }>;
}

/** Follows a deployment's live stream from now on; `deployment` is its path below `/api`. */
export async function followStream({ url, key }: System, deployment: string): Promise<FollowedStream> {
  const leaving = new AbortController();
  const answer = await fetch(`${url}/api${deployment}/stream`, {
    headers: { authorization: `Bearer ${key}` },
    signal: leaving.signal,
  });
  if (answer.body === null || !answer.ok) throw new Error(`the stream was answered ${answer.status}`);
  const blocks = blocksOf(answer.body.pipeThrough(new TextDecoderStream()));
  const nextOf = async (event: string): Promise<string> => {
    for (;;) {
      const { value: block, done } = await blocks.next();
      if (done) throw new Error('the stream ended');
      if (block.includes(`event: ${event}\n`)) return block;
    }
  };
  return {
    next: async () => Number(/^id: (\d+)$/m.exec(await nextOf('execution'))?.[1]),
    nextPush: async () => JSON.parse(/^data: (.*)$/m.exec(await nextOf('push'))?.[1] ?? ''),
    [Symbol.asyncDispose]: async () => leaving.abort(),
  };
}

/** The parts of an event stream: each ends with an empty line. */
async function* blocksOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    const blocks = `${rest}${text}`.split('\n\n');
    rest = blocks.pop() ?? '';
    yield* blocks;
  }
}
