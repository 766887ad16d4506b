export type Batcher<Question, Answer> = (question: Question) => Promise<Answer>;

interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Many questions, few calls: while one call is under way, all that is asked meanwhile waits and shares the next one.
 * So no answer is older than its question. `ask` answers in the order of the questions, at most `limit` of them; it waits
 * for `ready`, and who asks meanwhile shares the call still.
 */
export function createBatcher<Question, Answer>(
  limit: number,
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  ready: () => Promise<void> | undefined = () => undefined,
): Batcher<Question, Answer> {
  let waiting: Waiting<Question, Answer>[] = [];
  let asking = false;

  const askAll = async () => {
    while (waiting.length > 0) {
      await ready();
      const batch = waiting.slice(0, limit);
      waiting = waiting.slice(limit);
      await settle(batch, ask);
    }
    asking = false;
  };
  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      if (asking) return;
      asking = true;
      // Questions of the same turn of the event loop go together.
      setImmediate(() => void askAll());
    });
}

async function settle<Question, Answer>(
  batch: readonly Waiting<Question, Answer>[],
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): Promise<void> {
  try {
    const answers = await ask(batch.map(({ question }) => question));
    // `ask` answers every question, in order.
    for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
