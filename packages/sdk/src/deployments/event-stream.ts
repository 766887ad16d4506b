/** One block of a stream of server-sent events (HTML Living Standard §9.2); a comment with an id has no data. */
export interface ServerEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/**
 * The blocks of an event stream. One that was cut off in the middle is left out. Ends with the stream.
 * @throws the connection's error, or `Error` when nothing arrives for `silenceMs`
 */
export async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await within(silenceMs, reader.read());
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? '';
      yield* blocks.map(parse);
    }
  } finally {
    // Frees the connection; one that has failed cannot be cancelled.
    reader.cancel().catch(() => undefined);
  }
}

function parse(block: string): ServerEvent {
  const fields = block.split(/\r?\n/).map((line) => /^(\w*): ?(.*)$/.exec(line) ?? []);
  const valuesOf = (wanted: string) => fields.flatMap(([, name, value]) => (name === wanted ? [value] : []));
  return {
    event: valuesOf('event').at(-1) ?? 'message',
    id: valuesOf('id').at(-1),
    data: valuesOf('data').join('\n'),
  };
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing arrived for ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
}
