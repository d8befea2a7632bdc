/**
 * Forms that ask by GET, and the URL that each leads to when a reader sends it as it stands: pressed Enter, filled in
 * nothing (HTML Standard §4.10.21, 'constructing the entry list').
 *
 * Controls are kept in the order in which they stand, and given to their forms at the end: one may name a form that comes
 * later. The first button that sends a form counts as the one that was pressed.
 *
 * Invariants:
 * 1. Work is linear in the number of elements, however they are nested.
 * 2. A form inside a form is none, as to a tree builder.
 */
import { normalizeEncoding } from '@exodus/bytes/encoding.js';
import { escapeFormText } from './legacy-query.js';
import { attribute, type FoundLink, strip } from './links.js';
import type { Attributes } from './markup.js';

export interface GetForm {
  /** As written; empty: the page itself. */
  readonly action: string;
  readonly rel: string | null;
  /** Labels of encodings that its server takes; null: that of the page. */
  readonly acceptCharset: string | null;
  readonly fields: readonly Field[];
}

type Field = readonly [name: string, value: string];

interface Form {
  readonly attributes: Attributes;
  readonly controls: Control[];
}

/** Something in a form that may send fields. */
interface Control {
  readonly form: Form | null;
  /** The id of the form that it names; null: the form around it. */
  readonly formId: string | null;
  /** A group of which the last that is checked counts; null for all but radio buttons. */
  readonly radioName: string | null;
  /** What a button changes of how its form is sent; null for what is no button. */
  readonly sender: Attributes | null;
  readonly fields: readonly Field[];
}

interface OpenSelect {
  readonly attributes: Attributes;
  readonly options: OpenOption[];
  isGroupDisabled: boolean;
}

interface OpenOption {
  readonly value: string | null;
  readonly isSelected: boolean;
  readonly isDisabled: boolean;
  text: string;
}

interface Fieldset {
  readonly isDisabled: boolean;
  /** Controls in its first legend are not disabled with it. */
  legend: 'none' | 'open' | 'over';
}

export class FormReading {
  private readonly forms: Form[] = [];
  private readonly formOfId = new Map<string, Form>();
  private readonly controls: Control[] = [];
  private readonly fieldsets: Fieldset[] = [];
  private disabledDepth = 0;
  private datalistDepth = 0;
  private form: Form | null = null;
  private select: OpenSelect | null = null;
  private option: OpenOption | null = null;
  private textarea: { readonly attributes: Attributes; text: string } | null = null;

  started(name: string, attributes: Attributes): void {
    switch (name) {
      case 'form':
        return this.startForm(attributes);
      case 'input':
        this.endSelect();
        return this.addInput(attributes);
      case 'button':
        return this.addButton(attributes, attribute(attributes, 'value') ?? '');
      case 'select':
        this.endSelect();
        this.select = { attributes, options: [], isGroupDisabled: false };
        return;
      case 'optgroup':
        this.option = null;
        if (this.select !== null) this.select.isGroupDisabled = has(attributes, 'disabled');
        return;
      case 'option':
        return this.startOption(attributes);
      case 'textarea':
        this.endSelect();
        this.textarea = { attributes, text: '' };
        return;
      case 'fieldset':
        return this.startFieldset(attributes);
      case 'legend':
        return this.legend('none', 'open');
      case 'datalist':
        this.datalistDepth++;
    }
  }

  ended(name: string): void {
    switch (name) {
      case 'form':
        this.form = null;
        return;
      case 'select':
        return this.endSelect();
      case 'option':
        this.option = null;
        return;
      case 'optgroup':
        this.option = null;
        if (this.select !== null) this.select.isGroupDisabled = false;
        return;
      case 'textarea':
        return this.endTextarea();
      case 'fieldset':
        return this.endFieldset();
      case 'legend':
        return this.legend('open', 'over');
      case 'datalist':
        this.datalistDepth = Math.max(0, this.datalistDepth - 1);
    }
  }

  /** Text or white space. */
  text(chars: string): void {
    if (this.textarea !== null) this.textarea.text += chars;
    else if (this.option !== null) this.option.text += chars;
  }

  /** The forms that ask by GET, in document order. Nothing is told after it. */
  content(): GetForm[] {
    this.endSelect();
    this.endTextarea();
    for (const control of this.controls) {
      const form = control.formId === null ? control.form : this.formOfId.get(control.formId);
      form?.controls.push(control);
    }
    return this.forms.map(sentForm).filter((form) => form !== null);
  }

  private startForm(attributes: Attributes): void {
    if (this.form !== null) return;
    this.form = { attributes, controls: [] };
    this.forms.push(this.form);
    const id = attribute(attributes, 'id');
    if (id !== null && id !== '' && !this.formOfId.has(id)) this.formOfId.set(id, this.form);
  }

  private startFieldset(attributes: Attributes): void {
    const isDisabled = has(attributes, 'disabled');
    this.fieldsets.push({ isDisabled, legend: 'none' });
    if (isDisabled) this.disabledDepth++;
  }

  private endFieldset(): void {
    const ended = this.fieldsets.pop();
    if (ended?.isDisabled && ended.legend !== 'open') this.disabledDepth--;
  }

  private legend(from: Fieldset['legend'], to: Fieldset['legend']): void {
    const fieldset = this.fieldsets.at(-1);
    if (!fieldset?.isDisabled || fieldset.legend !== from) return;
    fieldset.legend = to;
    this.disabledDepth += to === 'open' ? -1 : 1;
  }

  private startOption(attributes: Attributes): void {
    if (this.select === null) return;
    this.option = {
      value: attribute(attributes, 'value'),
      isSelected: has(attributes, 'selected'),
      isDisabled: this.select.isGroupDisabled || has(attributes, 'disabled'),
      text: '',
    };
    this.select.options.push(this.option);
  }

  private endSelect(): void {
    const { select } = this;
    this.select = null;
    this.option = null;
    if (select === null) return;
    const name = attribute(select.attributes, 'name') ?? '';
    this.add(select.attributes, fieldsOf(name, chosenOf(select).map(optionValue)));
  }

  private endTextarea(): void {
    const { textarea } = this;
    this.textarea = null;
    if (textarea === null) return;
    // The first line end belongs to the markup (HTML Standard §13.2.6.4.7).
    const value = textarea.text.replace(/^\n/, '');
    this.add(textarea.attributes, fieldsOf(attribute(textarea.attributes, 'name') ?? '', [value]));
  }

  private addInput(attributes: Attributes): void {
    const name = attribute(attributes, 'name') ?? '';
    const type = (attribute(attributes, 'type') ?? 'text').toLowerCase();
    const value = attribute(attributes, 'value');
    switch (type) {
      case 'button':
      case 'reset':
        return;
      case 'submit':
        return this.addButton(attributes, value ?? '');
      case 'image':
        return this.add(attributes, imageFields(name), { sender: attributes });
      case 'checkbox':
      case 'radio': {
        if (!has(attributes, 'checked')) return;
        const radioName = type === 'radio' && name !== '' ? name : null;
        return this.add(attributes, fieldsOf(name, [value ?? 'on']), { radioName });
      }
      default:
        this.add(attributes, fieldsOf(name, [inputValue(type, value ?? '', attributes)]));
    }
  }

  private addButton(attributes: Attributes, value: string): void {
    const type = (attribute(attributes, 'type') ?? 'submit').toLowerCase();
    if (type === 'button' || type === 'reset') return;
    this.add(attributes, fieldsOf(attribute(attributes, 'name') ?? '', [value]), { sender: attributes });
  }

  private add(
    attributes: Attributes,
    fields: readonly Field[],
    more: Partial<Pick<Control, 'sender' | 'radioName'>> = {},
  ): void {
    if (this.disabledDepth > 0 || this.datalistDepth > 0 || has(attributes, 'disabled')) return;
    const formId = attribute(attributes, 'form');
    if (formId === null && this.form === null) return;
    const { sender = null, radioName = null } = more;
    this.controls.push({ form: this.form, formId, sender, radioName, fields });
  }
}

// -- what a form sends ------------------------------------------------------------------------------------------

function sentForm({ attributes, controls }: Form): GetForm | null {
  const pressed = controls.find(({ sender }) => sender !== null)?.sender ?? null;
  const over = (own: string, buttons: string) =>
    (pressed === null ? null : attribute(pressed, buttons)) ?? attribute(attributes, own) ?? '';
  const method = strip(over('method', 'formmethod')).toLowerCase();
  if (method === 'post' || method === 'dialog') return null;
  const checked = new Map<string, Control>();
  for (const control of controls) if (control.radioName !== null) checked.set(control.radioName, control);
  const sent = controls.filter(
    (control) =>
      (control.sender === null || control.sender === pressed) &&
      (control.radioName === null || checked.get(control.radioName) === control),
  );
  return {
    action: strip(over('action', 'formaction')),
    rel: attribute(attributes, 'rel'),
    acceptCharset: attribute(attributes, 'accept-charset'),
    fields: sent.flatMap(({ fields }) => fields),
  };
}

/** A control without a name sends nothing. */
function fieldsOf(name: string, values: readonly string[]): Field[] {
  return name === '' ? [] : values.map((value) => [name, value]);
}

/** Where on it the pointer was; Enter presses it at its corner. */
function imageFields(name: string): Field[] {
  const prefix = name === '' ? '' : `${name}.`;
  return [
    [`${prefix}x`, '0'],
    [`${prefix}y`, '0'],
  ];
}

/** HTML Standard §4.10.5.1: what a value becomes by its type before anybody has touched it. */
function inputValue(type: string, value: string, attributes: Attributes): string {
  switch (type) {
    case 'hidden':
      return value;
    case 'file':
      return '';
    case 'color':
      return /^#[0-9a-f]{6}$/i.test(value) ? value.toLowerCase() : '#000000';
    case 'number':
      return isFloat(value) ? value : '';
    case 'range':
      return isFloat(value) ? value : middleOf(attributes);
    case 'email':
    case 'url':
      return strip(withoutLineEnds(value));
    default:
      return withoutLineEnds(value);
  }
}

function isFloat(text: string): boolean {
  return /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text);
}

function middleOf(attributes: Attributes): string {
  const bound = (name: string, otherwise: number) => {
    const text = attribute(attributes, name) ?? '';
    return isFloat(text) ? Number(text) : otherwise;
  };
  const least = bound('min', 0);
  const most = bound('max', 100);
  return String(most < least ? least : least + (most - least) / 2);
}

function withoutLineEnds(text: string): string {
  return text.replace(/[\r\n]/g, '');
}

function chosenOf({ attributes, options }: OpenSelect): OpenOption[] {
  const isMultiple = has(attributes, 'multiple');
  const selected = options.filter(({ isSelected }) => isSelected);
  let chosen = isMultiple ? selected : selected.slice(-1);
  const isMenu = !isMultiple && !/^\s*\+?(?:[2-9]|[1-9]\d+)/.test(attribute(attributes, 'size') ?? '');
  if (chosen.length === 0 && isMenu) chosen = options.filter(({ isDisabled }) => !isDisabled).slice(0, 1);
  return chosen.filter(({ isDisabled }) => !isDisabled);
}

function optionValue({ value, text }: OpenOption): string {
  return value ?? strip(text.replace(/[\t\n\f\r ]+/g, ' '));
}

function has(attributes: Attributes, name: string): boolean {
  return attribute(attributes, name) !== null;
}

// -- where it leads ---------------------------------------------------------------------------------------------

/**
 * The form as a link: its fields take the place of the action's query (HTML Standard §4.10.21.3, 'mutate action URL').
 *
 * @param pageUrl what an empty action means, whatever the base.
 * @param charset the page's.
 */
export function formLink({ action, rel, acceptCharset, fields }: GetForm, pageUrl: string, charset: string): FoundLink {
  const sentIn = acceptedEncoding(acceptCharset) ?? charset;
  const pairs = fields.map(([name, value]) => {
    const isCharset = name.toLowerCase() === '_charset_' && value === '';
    return `${formText(name, sentIn)}=${isCharset ? sentIn : formText(value, sentIn)}`;
  });
  const target = (action === '' ? pageUrl : action).replace(/[?#][\s\S]*$/, '');
  return { href: `${target}?${pairs.join('&')}`, element: 'form', rel };
}

function acceptedEncoding(labels: string | null): string | null {
  for (const label of labels?.split(/[\t\n\f\r ]+/) ?? []) {
    const name = label === '' ? null : normalizeEncoding(label);
    if (name !== null) return name;
  }
  return null;
}

function formText(text: string, charset: string): string {
  return escapeFormText(text.replace(/\r\n|\r|\n/g, '\r\n'), charset);
}
