import { element } from './dom.js';
import { type Call, readable } from './try-call.js';

/** Characters of an answer that are shown. */
const SHOWN = 200_000;

/** Sends calls and shows what is answered. */
export interface Outcome {
  readonly shown: HTMLElement;
  readonly stop: HTMLButtonElement;
  perform(call: Call): Promise<void>;
  refuse(message: string): void;
}

export function createOutcome(): Outcome {
  const status = element('p', { className: 'status', role: 'status' });
  const headers = element('pre', { tabIndex: 0 });
  const body = element('pre', { tabIndex: 0, className: 'body' });
  const more = element('details', {}, element('summary', { textContent: 'Headers' }), headers);
  const shown = element('div', { className: 'outcome', hidden: true }, status, more, body);
  const stop = element('button', { type: 'button', textContent: 'Stop', hidden: true });
  let leaving = new AbortController();
  stop.addEventListener('click', () => leaving.abort());

  const say = (text: string, isGood: boolean) => {
    shown.hidden = false;
    status.textContent = text;
    status.classList.toggle('bad', !isGood);
  };
  const begin = () => {
    leaving.abort();
    leaving = new AbortController();
    headers.textContent = body.textContent = '';
    more.hidden = true;
    say('Sending …', true);
    stop.hidden = false;
    return leaving.signal;
  };
  const perform = async ({ url, init }: Call) => {
    const signal = begin();
    const began = performance.now();
    try {
      const answer = await fetch(url, { ...init, signal, cache: 'no-store', credentials: 'omit' });
      const took = Math.round(performance.now() - began);
      say(`${answer.status} ${answer.statusText} in ${took} ms`, answer.ok);
      headers.textContent = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
      more.hidden = false;
      await showBody(answer, body);
    } catch (error) {
      if (signal.aborted) say(`${status.textContent ?? ''} · stopped`, true);
      else say(`No answer came: ${(error as Error).message}. Is the server running?`, false);
    } finally {
      if (leaving.signal === signal) stop.hidden = true;
    }
  };
  const refuse = (message: string) => {
    begin();
    stop.hidden = true;
    say(message, false);
  };
  return { shown, stop, perform, refuse };
}

/** As it arrives, so that streams are seen; what is complete is set out. */
async function showBody(answer: Response, body: HTMLElement): Promise<void> {
  let text = '';
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
    text += read.value;
    body.textContent = text.slice(0, SHOWN);
    if (text.length > SHOWN) {
      await reader?.cancel();
      body.textContent += '\n… the rest is not shown';
      return;
    }
  }
  body.textContent = readable(text);
}
