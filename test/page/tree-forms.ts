/**
 * The oracle of forms: what a form of a full tree sends when it is sent as it stands (HTML Standard §4.10.21.4), by what
 * stands inside what, in UTF-8. It shares no code with the reader of tokens.
 */
import { type DefaultTreeAdapterTypes, html } from 'parse5';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** The targets of all forms that ask by GET, as written but for their query, in tree order. */
export function formTargets(document: Node, pageUrl: string): string[] {
  const elements = htmlElements(document);
  const forms = elements.filter(({ tagName }) => tagName === 'form');
  const owned = new Map<Element, Element[]>(forms.map((form) => [form, []]));
  for (const element of elements) {
    if (!['input', 'button', 'select', 'textarea'].includes(element.tagName) || isDisabled(element)) continue;
    const id = valueOf(element, 'form');
    const owner =
      id === null ? ancestorOf(element, 'form') : forms.find((form) => valueOf(form, 'id') === id && id !== '');
    if (owner) owned.get(owner)?.push(element);
  }
  return forms.flatMap((form) => targetOf(form, owned.get(form) ?? [], pageUrl));
}

function targetOf(form: Element, controls: readonly Element[], pageUrl: string): string[] {
  const button = controls.find(isSubmit);
  const asked = (own: string) => (button && valueOf(button, `form${own}`)) ?? valueOf(form, own) ?? '';
  if (/^\s*(post|dialog)\s*$/i.test(asked('method'))) return [];
  const query = new URLSearchParams();
  for (const control of controls) {
    if (isSubmit(control) && control !== button) continue;
    if (typeOf(control) === 'radio' && control !== lastChecked(control, controls)) continue;
    for (const [name, value] of entriesOf(control)) query.append(name, value.replace(/\r\n?|\n/g, '\r\n'));
  }
  const action = asked('action').trim();
  return [`${(action === '' ? pageUrl : action).split(/[?#]/)[0]}?${query}`];
}

function entriesOf(control: Element): [string, string][] {
  const name = valueOf(control, 'name') ?? '';
  const value = valueOf(control, 'value');
  const type = typeOf(control);
  if (type === 'image') return ['x', 'y'].map((axis) => [name === '' ? axis : `${name}.${axis}`, '0']);
  if (name === '' || type === 'reset' || type === 'button') return [];
  if (control.tagName === 'select') return chosenOf(control).map((option) => [name, optionValue(option)]);
  if (control.tagName === 'textarea') return [[name, textOf(control)]];
  if (type === 'checkbox' || type === 'radio')
    return valueOf(control, 'checked') === null ? [] : [[name, value ?? 'on']];
  if (type === 'file') return [[name, '']];
  return [
    [name, type === 'hidden' || control.tagName === 'button' ? (value ?? '') : (value ?? '').replace(/[\r\n]/g, '')],
  ];
}

function typeOf(control: Element): string {
  const type = (valueOf(control, 'type') ?? '').toLowerCase();
  if (control.tagName === 'button') return type === 'reset' || type === 'button' ? type : 'submit';
  return control.tagName === 'input' ? type : control.tagName;
}

function isSubmit(control: Element): boolean {
  return ['submit', 'image'].includes(typeOf(control));
}

function lastChecked(radio: Element, controls: readonly Element[]): Element | undefined {
  const name = valueOf(radio, 'name');
  return controls.findLast(
    (other) => typeOf(other) === 'radio' && valueOf(other, 'name') === name && valueOf(other, 'checked') !== null,
  );
}

function chosenOf(select: Element): Element[] {
  const options = htmlElements(select).filter(({ tagName }) => tagName === 'option');
  const enabled = (option: Element) =>
    valueOf(option, 'disabled') === null && valueOf(ancestorOf(option, 'optgroup'), 'disabled') === null;
  const selected = options.filter((option) => valueOf(option, 'selected') !== null);
  if (valueOf(select, 'multiple') !== null) return selected.filter(enabled);
  const first = Number(valueOf(select, 'size') ?? '1') > 1 ? undefined : options.find(enabled);
  return [selected.at(-1) ?? first].filter((option) => option !== undefined).filter(enabled);
}

function optionValue(option: Element): string {
  return (
    valueOf(option, 'value') ??
    textOf(option)
      .replace(/[\t\n\f\r ]+/g, ' ')
      .replace(/^ | $/g, '')
  );
}

function isDisabled(control: Element): boolean {
  if (valueOf(control, 'disabled') !== null || ancestorOf(control, 'datalist') !== undefined) return true;
  let inner: Node = control;
  for (let node = control.parentNode; node !== null; node = 'parentNode' in node ? node.parentNode : null) {
    if ('tagName' in node && node.tagName === 'fieldset' && valueOf(node, 'disabled') !== null) {
      const legend = node.childNodes.find((child) => child.nodeName === 'legend');
      if (legend === undefined || legend !== inner) return true;
    }
    inner = node;
  }
  return false;
}

function ancestorOf(element: Element, name: string): Element | undefined {
  for (let node = element.parentNode; node !== null; node = 'parentNode' in node ? node.parentNode : null) {
    if ('tagName' in node && node.tagName === name) return node;
  }
  return undefined;
}

/** In tree order, without what stands in a template. */
function htmlElements(root: Node): Element[] {
  const elements: Element[] = [];
  const stack: Node[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if ('tagName' in node && node.namespaceURI === html.NS.HTML) elements.push(node);
    if ('childNodes' in node) stack.push(...node.childNodes.toReversed());
  }
  return elements;
}

function textOf(element: Element): string {
  return element.childNodes
    .map((child) => ('value' in child ? child.value : 'childNodes' in child ? textOf(child as Element) : ''))
    .join('');
}

function valueOf(element: Element | undefined, name: string): string | null {
  return element?.attrs.find((attribute) => attribute.name === name)?.value ?? null;
}
