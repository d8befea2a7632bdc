import { describe, expect, it } from 'vitest';
import { parse } from '../../src/page/parse.js';
import { pageOf, taskOf } from './tasks.js';

const PAGE = 'http://site.example/dir/page?id=9';

function sent(source: string, charset = 'utf-8'): string[] {
  const links = { embeds: false, forms: true, nofollow: 'skip' } as const;
  const headers = [['Content-Type', `text/html; charset=${charset}`]] as const;
  const task = taskOf(Buffer.from(source, charset === 'utf-8' ? 'utf8' : 'latin1'), { url: PAGE, links, headers });
  return pageOf(parse(task)).links.map(({ url, element }) => {
    expect(element).toBe('form');
    return url.replace('http://site.example', '');
  });
}

const query = (controls: string) => sent(`<form action=/s>${controls}</form>`)[0]?.replace(/^\/s\?/, '');

describe('what a form sends untouched (HTML Standard §4.10.21)', () => {
  it.each([
    ['<input name=q>', 'q='],
    ['<input name=q value="a b&amp;c=d/é">', 'q=a+b%26c%3Dd%2F%C3%A9'],
    ['<input value=x><input name="" value=y>', ''],
    ['<input type=hidden name=h value=1><input type=search name=q value=2>', 'h=1&q=2'],
    ['<input name=a disabled><input name=b readonly value=1>', 'b=1'],
    [
      '<input type=checkbox name=a><input type=checkbox name=b checked><input type=checkbox name=c value=1 checked>',
      'b=on&c=1',
    ],
    [
      '<input type=radio name=r value=1 checked><input type=radio name=r value=2 checked><input type=radio name=r value=3>',
      'r=2',
    ],
    ['<input type=reset name=a value=1><input type=button name=b value=1><button type=button name=c></button>', ''],
    ['<input type=submit name=go value=1><input name=q value=2><input type=submit name=other value=3>', 'go=1&q=2'],
    ['<button disabled name=a value=1></button><button name=b value=2></button>', 'b=2'],
    ['<input type=image name=at><input name=q>', 'at.x=0&at.y=0&q='],
    [
      '<input type=file name=f><input type=color name=c><input type=range name=r max=11><input type=number name=n value=x>',
      'f=&c=%23000000&r=5.5&n=',
    ],
    ['<textarea name=t>\n\n a\nb </textarea>', 't=%0D%0A+a%0D%0Ab+'],
    ['<select name=s><option>a  b<option value=2>c</select>', 's=a+b'],
    ['<select name=s><option value=1 disabled>a<option value=2>c</select>', 's=2'],
    ['<select name=s><option value=1 selected>a<option value=2 selected>c</select>', 's=2'],
    [
      '<select name=s multiple><option value=1 selected>a<option value=2 selected>c<option value=3>d</select>',
      's=1&s=2',
    ],
    ['<select name=s multiple><option value=1>a</select><select name=t size=3><option value=1></select>', ''],
    ['<select name=s><optgroup disabled><option value=1></optgroup><optgroup><option value=2></select>', 's=2'],
    [
      '<fieldset disabled><legend><input name=a></legend><legend><input name=b></legend><input name=c></fieldset><input name=d>',
      'a=&d=',
    ],
    ['<datalist><option value=1><input name=a></datalist><input name=b>', 'b='],
    ['<template><input name=a></template><input name=b>', 'b='],
  ])('%s: %j', (controls, fields) => {
    expect(query(controls)).toBe(fields);
  });

  it('by GET only; a button that is pressed may change how and where to', () => {
    expect(
      sent('<form method=post action=/s></form><form method=dialog></form><form method=bogus action=/t></form>'),
    ).toEqual(['/t?']);
    expect(sent('<form action=/s><button formmethod=post></form>')).toEqual([]);
    expect(sent('<form action=/s method=post><button formmethod=get formaction=/t></form>')).toEqual(['/t?']);
  });

  it('its fields take the place of the query; without an action it is sent to the page itself, whatever the base', () => {
    expect(sent('<base href=/b/><form action="x?old=1#f"><input name=a></form>')).toEqual(['/b/x?a=']);
    expect(sent('<base href=/b/><form><input name=a></form>')).toEqual(['/dir/page?a=']);
    expect(sent('<base href=/b/><form action=" ?x "><input name=a></form>')).toEqual(['/b/?a=']);
    expect(sent('<form action="javascript:x()"></form><form action="mailto:a@b"></form>')).toEqual([]);
  });

  it('a form in a form is none; controls may stand anywhere and name their form', () => {
    expect(
      sent('<form action=/s><form action=/t><input name=a></form><input name=b form=f><form id=f action=/u></form>'),
    ).toEqual(['/s?a=', '/u?b=']);
    expect(sent('<table><form action=/s><tr><td><input name=a></table></form><input name=b>')).toEqual(['/s?a=']);
    expect(sent('<form action=/s><input name=a form=nobody><input name=b></form>')).toEqual(['/s?b=']);
  });

  it('in the encoding of the page, or one that it accepts', () => {
    expect(sent('<form action=/s><input name=q value="\xcf\xf0 ">', 'windows-1251')).toEqual(['/s?q=%CF%F0+']);
    expect(sent('<form action=/s accept-charset="x iso-8859-1"><input name=q value="é\u20ac\u0416">')).toEqual([
      '/s?q=%E9%80%26%231046%3B',
    ]);
    expect(sent('<form action=/s><input type=hidden name=_charset_><input name=q>', 'windows-1251')).toEqual([
      '/s?_charset_=windows-1251&q=',
    ]);
  });

  it('is not looked at where forms are not followed, and nofollow holds for it', () => {
    expect(pageOf(parse(taskOf('<form action=/s></form>'))).links).toEqual([]);
    expect(sent('<form action=/s rel=nofollow></form>')).toEqual([]);
  });
});
