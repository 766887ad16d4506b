export interface HealthAnswer {
  readonly status: number;
  readonly body: { readonly status: string; readonly checks?: Record<string, { readonly status: string }> };
}

/** Asks a health page; `undefined` while nobody answers. */
export async function healthOf(
  port: number,
  path: '/healthz' | '/readyz',
): Promise<HealthAnswer | undefined> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
  if (answer === undefined) return undefined;
  return { status: answer.status, body: (await answer.json()) as HealthAnswer['body'] };
}
