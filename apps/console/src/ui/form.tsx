import {
  createContext,
  type FormEvent,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react';

/** Whether what is required and empty is marked: from the first try to send it on. */
const Tried = createContext(false);

export interface FormProps {
  /** Called once nothing that is required is empty, and every field can be read. */
  onSubmit: () => void;
  className?: string | undefined;
  children: ReactNode;
}

/** A form that marks fields which are required and empty or cannot be read, in place of the browser's own bubble. */
export function Form({ onSubmit, className, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const { isTried, isComplete } = useCompleteness(form);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isComplete()) onSubmit();
  };
  return (
    <form ref={form} noValidate onSubmit={submit} className={className}>
      <Tried value={isTried}>{children}</Tried>
    </form>
  );
}

export interface RequiredProps {
  required: ReturnType<typeof useRequired>;
  children: ReactNode;
}

/** A part of a page whose fields a button elsewhere sends: `isComplete` marks those that keep it from being sent. */
export const Required = ({ required: { part, isTried }, children }: RequiredProps) => (
  <div ref={part}>
    <Tried value={isTried}>{children}</Tried>
  </div>
);

export function useRequired() {
  const part = useRef<HTMLDivElement>(null);
  return { part, ...useCompleteness(part) };
}

function useCompleteness(part: RefObject<HTMLElement | null>) {
  const [isTried, setTried] = useState(false);
  const isComplete = (): boolean => {
    setTried(true);
    const [first] = unfitIn(part.current);
    first?.focus();
    return first === undefined;
  };
  return { isTried, isComplete };
}

type AnyControl = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** Leads to the first field that is marked, once the answer to what was sent has marked it. */
export function useFirstWrong(part: RefObject<HTMLElement | null>, error: unknown): void {
  useEffect(() => {
    if (error !== null && error !== undefined) showFirstWrong(part.current);
  }, [part, error]);
}

/** Leads to the first field that is marked. */
export function showFirstWrong(part: HTMLElement | null): void {
  const field = part?.querySelector<HTMLElement>('[aria-invalid=true], [data-invalid]');
  // An editor is in a shadow root.
  const control = field?.shadowRoot?.querySelector<HTMLElement>('[contenteditable]') ?? field;
  control?.focus({ preventScroll: true });
  field?.scrollIntoView({ block: 'center' });
}

/** Those that are required and empty, and those whose text stands for no value. */
const unfitIn = (part: HTMLElement | null): AnyControl[] =>
  [...(part?.querySelectorAll<AnyControl>('input, textarea, select') ?? [])].filter(
    ({ required, value, validity }) => (required && isEmpty(value)) || validity.customError,
  );

const isEmpty = (value: string): boolean => value.trim() === '';

/** What is said at a required field that is empty; undefined before one tries to send it. */
export function useEmptiness(isRequired: boolean | undefined, value: unknown): string | undefined {
  const isTried = useContext(Tried);
  return isTried && isRequired && typeof value === 'string' && isEmpty(value) ? 'Give a value.' : undefined;
}
