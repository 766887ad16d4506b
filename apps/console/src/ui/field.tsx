import {
  createContext,
  type FormEvent,
  type InputHTMLAttributes,
  type ReactNode,
  type RefObject,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useContext,
  useId,
  useRef,
  useState,
} from 'react';
import { classes } from './classes.js';
import { whyNoNumber } from './typed-text.js';

interface ControlProps {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean | undefined;
}

export interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  /** What is wrong with the value. */
  error?: string | undefined;
  /** Says beside the label that it must not be empty; the control needs `required` too. */
  required?: boolean | undefined;
  className?: string | undefined;
  children: (control: ControlProps) => ReactNode;
}

/** A label, the control, a hint and what is wrong, tied together for screen readers. */
export function Field({ label, hint, error, required, className, children }: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return (
    <div className={className}>
      <div className="mb-1 flex shrink-0 items-baseline gap-2">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {required && <RequiredMark />}
      </div>
      {children({
        id,
        'aria-describedby': described,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {hint && (
        <p id={`${id}-hint`} className="mt-1 text-sm text-muted">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="mt-1 text-sm font-medium text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

/** Screen readers hear it of the control itself. */
export const RequiredMark = () => (
  <span aria-hidden="true" className="text-sm text-muted">
    required
  </span>
);

type Control<Attributes, Value = string> = Omit<FieldProps, 'children'> &
  Omit<Attributes, 'onChange' | 'className' | 'value'> & { value: Value; onChange: (value: Value) => void };

type TextFieldProps = Control<InputHTMLAttributes<HTMLInputElement>> & {
  /** Why the text stands for no value, as it is typed. A form is not sent while there is such a field. */
  unreadable?: string | undefined;
};

export function TextField({ label, hint, error, className, onChange, unreadable, ...rest }: TextFieldProps) {
  const { required, value } = rest;
  const empty = useEmptiness(required, value);
  return (
    <Field {...{ label, hint, className, required }} error={empty ?? unreadable ?? error}>
      {(control) => (
        <input
          type="text"
          ref={(input) => input?.setCustomValidity(unreadable ?? '')}
          {...rest}
          {...control}
          className="control"
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}

type NumberFieldProps = Omit<TextFieldProps, 'unreadable' | 'type' | 'inputMode'> & { isWhole?: boolean };

/** A number as it is typed. The browser's own number field gives an empty text for `1e`, as if nothing were typed. */
export const NumberField = ({ isWhole, ...rest }: NumberFieldProps) => (
  <TextField
    {...rest}
    inputMode={isWhole ? 'numeric' : 'decimal'}
    unreadable={whyNoNumber(rest.value, isWhole)}
  />
);

type TextAreaProps = Control<TextareaHTMLAttributes<HTMLTextAreaElement>>;

export const TextArea = ({ label, hint, error, className, onChange, ...rest }: TextAreaProps) => (
  <Field {...{ label, hint, error, className }}>
    {(control) => (
      <textarea
        {...rest}
        {...control}
        className="control resize-y"
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
);

export type Option<V extends string = string> = readonly [value: V, words: string];

interface SelectProps<V extends string> extends Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange'> {
  value: V;
  onChange: (value: V) => void;
  options: readonly Option<V>[];
}

/** The control alone; the children are further options. */
export const Select = <V extends string>({ options, onChange, children, ...rest }: SelectProps<V>) => (
  <select {...rest} onChange={({ target }) => onChange(target.value as V)}>
    {options.map(([value, words]) => (
      <option key={value} value={value}>
        {words}
      </option>
    ))}
    {children}
  </select>
);

/** Options whose words are their values. */
export const named = <V extends string>(values: Iterable<V>): Option<V>[] =>
  Array.from(values, (value) => [value, value]);

type SelectFieldProps<V extends string> = Omit<FieldProps, 'children'> & Omit<SelectProps<V>, 'className'>;

export function SelectField<V extends string>(props: SelectFieldProps<V>) {
  const { label, hint, error, className, ...rest } = props;
  return (
    <Field {...{ label, hint, error, className }}>
      {(control) => <Select<V> {...rest} {...control} className="control" />}
    </Field>
  );
}

export interface FilterProps<V extends string> {
  label: string;
  value: V | undefined;
  /** Undefined: all. */
  onChange: (value: V | undefined) => void;
  values: readonly V[];
  className?: string;
}

/** Chooses one of some words, or all. */
export const Filter = <V extends string>({ value, onChange, values, ...rest }: FilterProps<V>) => (
  <SelectField<V | ''>
    {...rest}
    value={value ?? ''}
    onChange={(next) => onChange(next === '' ? undefined : next)}
    options={[['', 'all'], ...named(values)]}
  />
);

export interface CheckFieldProps {
  label: ReactNode;
  hint?: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean | undefined;
  className?: string | undefined;
}

export function CheckField({ label, hint, checked, onChange, disabled, className }: CheckFieldProps) {
  const id = useId();
  return (
    <div className={classes('flex gap-2', className)}>
      <input
        id={id}
        type="checkbox"
        className="mt-0.75 size-3.5 shrink-0 accent-accent"
        checked={checked}
        disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.target.checked)}
      />
      <div>
        <label htmlFor={id} className="text-base">
          {label}
        </label>
        {hint && (
          <p id={`${id}-hint`} className="text-sm text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}

interface CheckListProps<V extends string> {
  legend: string;
  options: readonly (Pick<CheckFieldProps, 'hint' | 'disabled'> & { value: V; label?: string })[];
  chosen: readonly V[];
  onChange: (chosen: readonly V[]) => void;
  /** Of the options together. */
  className?: string;
  /** Between the legend and the options. */
  children?: ReactNode;
}

/** Chooses any number of some words. */
export const CheckList = <V extends string>(props: CheckListProps<V>) => {
  const { legend, options, chosen, onChange, className, children } = props;
  const others = (value: V) => chosen.filter((one) => one !== value);
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium">{legend}</legend>
      {children}
      <div className={className}>
        {options.map(({ value, label = value, ...about }) => (
          <CheckField
            key={value}
            {...about}
            label={label}
            checked={chosen.includes(value)}
            onChange={(isOn) => onChange(isOn ? [...chosen, value] : others(value))}
          />
        ))}
      </div>
    </fieldset>
  );
};

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
    // A dialog over a form is in it for React, if not for the browser.
    event.stopPropagation();
    if (isComplete()) onSubmit();
  };
  return (
    <form ref={form} noValidate onSubmit={submit} className={className}>
      <Tried value={isTried}>{children}</Tried>
    </form>
  );
}

/** A part of a page whose fields a button elsewhere sends: `isComplete` marks those that keep it from being sent. */
type RequiredProps = { required: ReturnType<typeof useRequired>; children: ReactNode };

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

/** Leads to the first field that is marked. */
export function showFirstWrong(part: HTMLElement | null): void {
  const field = part?.querySelector<HTMLElement>('[aria-invalid=true], [data-invalid]');
  // The text of an editor is inside the part that is marked.
  const control = field?.querySelector<HTMLElement>('[contenteditable]') ?? field;
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
