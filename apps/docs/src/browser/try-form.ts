import { element } from './dom.js';
import { type Callable, callOf, type Field, MistypedError } from './try-call.js';
import { createOutcome } from './try-outcome.js';

/** The key, for the other forms of this page. It is stored nowhere and ends with the page. */
let lastKey = '';
let made = 0;

/** Puts the form in the place of its button. */
export function openForm(button: HTMLElement): void {
  const callable = JSON.parse(button.dataset['try'] ?? '') as Callable;
  const form = formOf(callable);
  button.replaceWith(form);
  form.querySelector<HTMLElement>('input, textarea, button')?.focus();
}

function formOf(callable: Callable): HTMLFormElement {
  const key = control('input', { type: 'password', value: lastKey, autocomplete: 'off', spellcheck: false });
  const inputs = callable.fields.map((field) => [field, inputFor(field)] as const);
  const body =
    callable.body === undefined
      ? undefined
      : control('textarea', { value: JSON.stringify(callable.body, null, 2), spellcheck: false, rows: 8 });
  const send = element('button', { type: 'submit', textContent: `Send ${callable.method.toUpperCase()}` });
  const outcome = createOutcome();
  const form = element(
    'form',
    { className: 'try-form', noValidate: true, ariaLabel: 'Try the call' },
    ...(callable.isKeyed ? [labelled('API key', key, 'kept in memory, sent to this server alone')] : []),
    ...inputs.map(([field, input]) =>
      labelled(field.name, input, field.required ? '' : `optional, ${field.in}`),
    ),
    ...(body === undefined ? [] : [labelled('Body', body, '')]),
    element('div', { className: 'buttons' }, send, outcome.stop),
    outcome.shown,
  );
  key.addEventListener('input', () => {
    lastKey = key.value;
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const values = new Map(inputs.map(([field, { value }]) => [field, value]));
    try {
      const call = callOf(callable, { key: key.value || lastKey, values, body: body?.value });
      void outcome.perform(call);
    } catch (error) {
      if (!(error instanceof MistypedError)) throw error;
      outcome.refuse(error.message);
    }
  });
  return form;
}

/** The addresses of the examples name nothing: the reader fills in those of theirs. */
function inputFor({ in: place, example, required }: Field): HTMLInputElement {
  const isAddress = /^0x[0-9a-f]{40}$/.test(String(example ?? ''));
  const value = place === 'path' && isAddress ? '' : required ? String(example ?? '') : '';
  const placeholder = String(example ?? '');
  return control('input', { type: 'text', value, placeholder, autocomplete: 'off', spellcheck: false });
}

function control<K extends 'input' | 'textarea'>(name: K, properties: Partial<HTMLElementTagNameMap[K]>) {
  made += 1;
  return element(name, { ...properties, id: `try-${made}` } as Partial<HTMLElementTagNameMap[K]>);
}

const labelled = (name: string, input: HTMLElement, note: string): HTMLElement =>
  element(
    'div',
    { className: 'field' },
    element('label', { htmlFor: input.id }, name, element('span', { textContent: note })),
    input,
  );
