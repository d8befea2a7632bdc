/** Forms that ask by GET, and where each leads when it is sent as it stands: to a tree and to the token reader the same. */
import { describe, expect, it } from 'vitest';
import { formLink } from '../../src/page/forms.js';
import { readHtml } from '../../src/page/html.js';
import { compareWithTree } from './against-tree.js';

const PAGE = 'http://site.example/dir/page?a=b';

function targets(source: string): string[] {
  const { forms } = readHtml(source, { forms: true, productToken: 'testbot' });
  return forms.map((form) => formLink(form, PAGE, 'utf-8').href);
}

describe('what a form sends, as a tree sees it (HTML Standard §4.10.21)', () => {
  it.each([
    ['<form action=/s><input name=q><input type=submit value=Go></form>', ['/s?q=']],
    ['<form action=/s><input name=q value="a b&c=ü+*-._~"></form>', ['/s?q=a+b%26c%3D%C3%BC%2B*-._%7E']],
    ['<form action="/s?old=1#there"><input name=q value=x></form>', ['/s?q=x']],
    ['<form><input name=q value=x></form>', ['http://site.example/dir/page?q=x']],
    ['<form action=/s></form>', ['/s?']],
    ['<form action=/s method=POST><input name=q></form><form method=dialog></form>', []],
    ['<form action=/s method=nonsense><input name=q></form>', ['/s?q=']],
    ['<form action=/s method=post><button formmethod=get formaction=/t name=b value=1>x</button></form>', ['/t?b=1']],
    [
      '<form action=/s><input type=checkbox name=a><input type=checkbox name=b checked value=2><input type=checkbox name=c checked></form>',
      ['/s?b=2&c=on'],
    ],
    [
      '<form action=/s><input type=radio name=r value=1 checked><input type=radio name=r value=2 checked></form>',
      ['/s?r=2'],
    ],
    ['<form action=/s><select name=s><option value=1>a<option>  b  c </select></form>', ['/s?s=1']],
    ['<form action=/s><select name=s><option value=1>a<option selected>  b  c </select></form>', ['/s?s=b+c']],
    ['<form action=/s><select name=s><option disabled value=1><option value=2></select></form>', ['/s?s=2']],
    ['<form action=/s><select name=s size=3><option value=1></select></form>', ['/s?']],
    [
      '<form action=/s><select name=s multiple><option selected value=1><option value=2><option selected value=3></select></form>',
      ['/s?s=1&s=3'],
    ],
    [
      '<form action=/s><select name=s><optgroup disabled><option value=1></optgroup><option value=2></select></form>',
      ['/s?s=2'],
    ],
    ['<form action=/s><textarea name=t>\na\nb</textarea></form>', ['/s?t=a%0D%0Ab']],
    [
      '<form action=/s><input name=a disabled><input type=reset name=r value=1><input type=button name=b value=1><button type=button name=c>x</button></form>',
      ['/s?'],
    ],
    [
      '<form action=/s><input type=hidden name=h value=1><input value=nameless><input name="" value=x></form>',
      ['/s?h=1'],
    ],
    ['<form action=/s><input type=submit name=a value=1><button name=b value=2>x</button></form>', ['/s?a=1']],
    ['<form action=/s><input type=image name=i></form>', ['/s?i.x=0&i.y=0']],
    ['<form action=/s><input type=image></form>', ['/s?x=0&y=0']],
    ['<form action=/s><input type=file name=f></form>', ['/s?f=']],
    ['<form id=f action=/s></form><input name=q value=late form=f><input name=no form=other>', ['/s?q=late']],
    ['<input name=early value=1 form=f><form id=f action=/s><input name=q value=2></form>', ['/s?early=1&q=2']],
    [
      '<form action=/s><fieldset disabled><legend><input name=l value=1></legend><input name=a value=2></fieldset><input name=b value=3></form>',
      ['/s?l=1&b=3'],
    ],
    ['<form action=/s><datalist><input name=q></datalist></form>', ['/s?']],
    ['<form action=/1><form action=/2><input name=a></form><input name=b></form>', ['/1?a=']],
    ['<template><form action=/s></form></template>', []],
    ['<svg><form action=/s></form></svg>', []],
  ])('%s → %j', (source, wanted) => {
    expect(targets(source)).toEqual(wanted);
    expect(compareWithTree(source).differences).toEqual([]);
  });
});
