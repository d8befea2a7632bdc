/** Kinds of pages that were written last, and that nothing was tuned by: how the detection does on what it has never met. */
import type { Chance } from './chance.js';
import type { Maker } from './made-page.js';

const head = (chance: Chance, title: string, more = '') =>
  `<head><meta charset="utf-8"><title>${title}</title>${chance.maybe(0.5, `<style>${chance.styles(chance.between(100, 5_000))}</style>`)}${more}</head>`;

export const UNSEEN_CHALLENGES: Readonly<Record<string, Maker>> = {
  mathQuestion: (chance) => ({
    html: `<html>${head(chance, 'Please verify')}<body><h2>Please answer to prove that you are human</h2><form method=post action=/gate><label>${chance.between(1, 9)} + ${chance.between(1, 9)} = <input name=answer size=3></label><button>Go on</button></form></body></html>`,
  }),
  spanishQueue: (chance) => ({
    status: chance.pick([200, 503]),
    html: `<html lang=es>${head(chance, 'Comprobación de seguridad')}<body><h1>Comprobando su navegador antes de acceder</h1><p>Este proceso es automático.</p><script>${chance.script(chance.between(400, 4_000))}</script></body></html>`,
  }),
  workerProof: (chance) => ({
    html: `<!doctype html><html>${head(chance, 'Hold on')}<body><h1>Hold on, we are making sure that you are not an AI scraper</h1><p>Your browser solves a small puzzle. ${chance.maybe(0.4, chance.prose(200))}</p><script>var w=new Worker("/guard/pow.js");w.onmessage=function(e){document.cookie="guard="+e.data;location.reload()};w.postMessage("${chance.hex(32)}");</script></body></html>`,
  }),
  friendly: (chance) => ({
    status: chance.pick([200, 403]),
    html: `<html>${head(chance, 'Anti-Robot Verification', '<script type="module" src="/friendly-challenge/widget.module.min.js" async></script>')}<body><p>Click below to verify that you are human</p><form method=post><div class="frc-captcha" data-sitekey="FC${chance.hex(16)}"></div></form></body></html>`,
  }),
  german: (chance) => ({
    html: `<html lang=de>${head(chance, 'Sicherheitsüberprüfung')}<body><h1>Ihr Browser wird überprüft</h1><p>Bitte warten Sie einen Augenblick, Sie werden weitergeleitet.</p><noscript>Bitte aktivieren Sie JavaScript.</noscript><script src="/check.${chance.hex(8)}.js"></script></body></html>`,
  }),
};

export const UNSEEN_SHELLS: Readonly<Record<string, Maker>> = {
  solid: (chance) => ({
    html: `<!DOCTYPE html><html lang="en">${head(chance, 'Solid App')}<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div><script src="/src/index.tsx" type="module"></script></body></html>`,
  }),
  aurelia: (chance) => ({
    html: `<!DOCTYPE html><html>${head(chance, 'Aurelia')}<body aurelia-app="main"><div class="splash"><div class="message">${chance.name()}</div><i class="fa fa-spinner fa-spin"></i></div><script src="/vendor-bundle.js" data-main="aurelia-bootstrapper"></script></body></html>`,
  }),
  vaadin: (chance) => ({
    html: `<!doctype html><html>${head(chance, '')}<body><div id="outlet"></div><script>window.Vaadin={developmentMode:false,TypeScript:{flow:{appId:"${chance.hex(8)}",csrf:"${chance.hex(36)}"}}};window.Vaadin.registrations=[];window.Vaadin.boot=function(){document.body.dataset.ready="1"}</script><script type="module" src="./VAADIN/build/indexhtml-${chance.hex(8)}.js"></script></body></html>`,
  }),
  qwikless: (chance) => ({
    html: `<!doctype html><html>${head(chance, chance.name())}<body><main class="view"></main><div class="toast-container"></div><script src="/assets/entry.client-${chance.hex(8)}.js" type="module"></script></body></html>`,
  }),
  swagger: (chance) => ({
    html: `<!DOCTYPE html><html>${head(chance, 'Swagger UI')}<body><div id="swagger-ui"></div><script src="./swagger-ui-bundle.js" charset="UTF-8"></script><script src="./swagger-ui-standalone-preset.js"></script><script>window.onload=function(){window.ui=SwaggerUIBundle({url:"/openapi.json",dom_id:"#swagger-ui",deepLinking:true,presets:[SwaggerUIBundle.presets.apis,SwaggerUIStandalonePreset],layout:"StandaloneLayout"})}</script></body></html>`,
  }),
};

export const UNSEEN_HONEST: Readonly<Record<string, Maker>> = {
  clock: (chance) => ({
    html: `<html>${head(chance, 'Time')}<body><p>It is ${chance.between(1, 12)} o'clock in ${chance.name()}.</p><span id=t></span><script>setInterval(function(){document.getElementById("t").textContent=new Date().toLocaleTimeString()},1000);${chance.script(200)}</script></body></html>`,
  }),
  cookieBannerOnly: (chance) => ({
    html: `<html>${head(chance, chance.name())}<body><h1>${chance.name()} ${chance.name()} ${chance.name()}</h1><script>if(!document.cookie.includes("seen")){document.cookie="seen=1";document.body.className="new"}${chance.script(200)}</script></body></html>`,
  }),
  languageSwitch: (chance) => ({
    html: `<html>${head(chance, chance.name())}<body><script>document.cookie="lang=en";location.href="/en/";</script><a href="/en/">English</a> <a href="/fr/">Français</a></body></html>`,
  }),
  logout: (chance) => ({
    html: `<html>${head(chance, 'Goodbye')}<body><p>You have been signed out.</p><script>document.cookie="session=;max-age=0";setTimeout(function(){location.href="/"},3000)</script></body></html>`,
  }),
  pollWithCaptcha: (chance) => ({
    html: `<html>${head(chance, 'Poll')}<body><h1>${chance.sentence()}</h1><form method=post>${chance.times(2, 5, (i) => `<label><input type=radio name=v value=${i}>${chance.name()}</label>`)}<div class="h-captcha" data-sitekey="${chance.hex(20)}"></div><script src="https://js.hcaptcha.com/1/api.js"></script><button>Vote</button></form></body></html>`,
  }),
  oneButton: (chance) => ({
    html: `<html>${head(chance, chance.name())}<body><h1>${chance.name()}</h1><button id=go>Play</button><script src="/js/play.js"></script></body></html>`,
  }),
  press: (chance) => ({
    html: `<html>${head(chance, 'Manual')}<body><p>Press and hold the power button for ${chance.between(3, 10)} seconds. ${chance.prose(150)}</p><a href="/manual/">Contents</a> <a href="/manual/2">Next</a></body></html>`,
  }),
};
