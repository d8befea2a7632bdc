/**
 * Doors in front of pages, as those who guard sites build them: the structure of each is theirs, the words and all that
 * varies are ours.
 */
import type { Chance } from './chance.js';
import type { Maker } from './made-page.js';

const MOMENTS = [
  [
    'en-US',
    'Just a moment...',
    'Enable JavaScript and cookies to continue',
    'Verifying you are human. This may take a few seconds.',
  ],
  [
    'de',
    'Einen Moment, bitte…',
    'Aktivieren Sie JavaScript und Cookies, um fortzufahren',
    'Es wird überprüft, dass Sie ein Mensch sind.',
  ],
  [
    'fr',
    'Un instant…',
    'Activez JavaScript et les cookies pour continuer',
    'Vérification de votre navigateur en cours.',
  ],
  [
    'es',
    'Un momento…',
    'Habilite JavaScript y las cookies para continuar',
    'Verifique que es un ser humano completando la acción.',
  ],
  ['pt-BR', 'Um momento…', 'Ative o JavaScript e os cookies para continuar', 'Confirme que você é humano.'],
  ['zh-CN', '请稍候…', '请启用 JavaScript 和 Cookie 以继续', '正在验证您是否是真人。'],
  [
    'ja',
    'しばらくお待ちください...',
    '続行するには JavaScript と Cookie を有効にしてください',
    '人間であることを確認します。',
  ],
  ['it', 'Solo un attimo...', 'Abilita JavaScript e i cookie per continuare', 'Verifica che tu sia un essere umano.'],
  ['pl', 'Chwileczkę…', 'Włącz JavaScript i pliki cookie', 'Sprawdzamy, czy jesteś człowiekiem.'],
] as const;

function waitStatus(chance: Chance): number {
  return chance.pick([200, 200, 200, 200, 403, 503]);
}

function cloudflareHead(chance: Chance, lang: string, title: string, mark: string): string {
  return `<!DOCTYPE html><html lang="${lang}"><head><title>${title}</title>
    <meta http-equiv="Content-Type" content="text/html; charset=UTF-8"><meta name="robots" content="noindex,nofollow">
    <meta name="viewport" content="width=device-width,initial-scale=1">${chance.maybe(0.5, `<style>${chance.styles(chance.between(200, 9_000))}</style>`)}
    ${chance.maybe(0.3, mark)}<meta http-equiv="refresh" content="${chance.pick(['390', '360', '30'])}"></head>`;
}

const cloudflareManaged: Maker = (chance) => {
  const [lang, title, noscript, says] = chance.pick(MOMENTS);
  const ray = chance.hex(16);
  const padding = chance.odds(0.3) ? chance.script(chance.between(2_000, 60_000)) : '';
  const options = `window._cf_chl_opt${chance.pick(['=', ' = '])}{cvId: '3',cZone: "${chance.word()}.example",cType: '${chance.pick(['managed', 'interactive', 'non-interactive'])}',cRay: '${ray}',cH: '${chance.hex(40)}',md: '${chance.hex(chance.between(200, 2_000))}'};`;
  const load = `var cpo = document.createElement('script');cpo.src = '/cdn-cgi/challenge-platform/h/${chance.pick(['b', 'g'])}/orchestrate/chl_page/v1?ray=${ray}';document.getElementsByTagName('head')[0].appendChild(cpo);`;
  const script = `<script>(function(){${padding}${options}${load}}());</script>`;
  const words = chance.odds(0.4)
    ? `<h1 class="zone-name-title h1">${chance.word()}.example</h1><p id="cf-spinner-please-wait">${says}</p><div class="core-msg">${chance.word()}.example needs to review the security of your connection before proceeding.</div><footer>Ray ID: <code>${ray}</code><br>Performance and security by Cloudflare</footer>`
    : '';
  return {
    status: waitStatus(chance),
    headers: chance.odds(0.3)
      ? [
          ['cf-mitigated', 'challenge'],
          ['Server', 'cloudflare'],
        ]
      : [['Server', 'cloudflare']],
    html: `${cloudflareHead(chance, lang, title, '')}<body><div class="main-wrapper" role="main"><div class="main-content">${words}
      <noscript><div class="h2"><span id="challenge-error-text">${noscript}</span></div></noscript></div></div>${script}</body></html>`,
  };
};

/** The older door, which counts five seconds. */
const cloudflareFiveSeconds: Maker = (chance) => {
  const token = chance.hex(32);
  return {
    status: waitStatus(chance),
    html: `${cloudflareHead(chance, 'en-US', chance.pick(['Just a moment...', 'Please Wait... | Cloudflare']), '')}<body><table width="100%" height="100%"><tr><td align="center">
      <div class="cf-browser-verification cf-im-under-attack"><noscript><h1 style="color:#bd2426">Please turn JavaScript on and reload the page.</h1></noscript>
      <div id="cf-content" style="display:none"><h1><span>Checking your browser before accessing</span> ${chance.word()}.example.</h1><p>This process is automatic. Your browser will redirect to your requested content shortly.</p><p>Please allow up to 5 seconds&hellip;</p></div>
      <form class="challenge-form" id="challenge-form" action="/${chance.word()}?__cf_chl_jschl_tk__=${token}" method="POST"><input type="hidden" name="r" value="${chance.hex(200)}"/><input type="hidden" name="jschl_vc" value="${token}"/><input type="hidden" name="pass" value="1"/></form></div>
      <div class="attribution">DDoS protection by <a rel="noopener noreferrer" href="https://www.cloudflare.com/5xx-error-landing/" target="_blank">Cloudflare</a><br>Ray ID: <code>${chance.hex(16)}</code></div>
      </td></tr></table><script>${chance.script(chance.between(400, 4_000))}</script></body></html>`,
  };
};

/** It refuses rather than asks, with a long explanation. */
const cloudflareBlock: Maker = (chance) => ({
  status: chance.pick([403, 403, 200]),
  html: `${cloudflareHead(chance, 'en-US', 'Attention Required! | Cloudflare', '')}<body><div id="cf-wrapper"><div class="cf-alert cf-alert-error cf-cookie-error" id="cookie-alert">Please enable cookies.</div>
    <div id="cf-error-details" class="cf-error-details-wrapper"><div class="cf-wrapper cf-header cf-error-overview"><h1 data-translate="block_headline">Sorry, you have been blocked</h1><h2>You are unable to access ${chance.word()}.example</h2></div>
    <div class="cf-section"><h2>Why have I been blocked?</h2><p>${chance.prose(chance.between(100, 500))}</p><h2>What can I do to resolve this?</h2><p>${chance.prose(chance.between(100, 400))}</p></div>
    <div class="cf-error-footer">Cloudflare Ray ID: <strong>${chance.hex(16)}</strong> &bull; Your IP: 192.0.2.1 &bull; Performance &amp; security by <a href="https://www.cloudflare.com/5xx-error-landing">Cloudflare</a></div></div></div>
    <script>window._cf_translation = {};</script></body></html>`,
});

/** A widget alone, on a page that a site's owner wrote. */
const turnstileGate: Maker = (chance) => ({
  status: waitStatus(chance),
  html: `<!doctype html><html><head><title>${chance.pick(['Security check', 'Verify you are human', chance.name(), 'Human Verification'])}</title>
    <script src="https://challenges.cloudflare.com/turnstile/v0/api.js${chance.maybe(0.4, '?onload=onloadTurnstileCallback')}" async defer></script><style>${chance.styles(chance.between(50, 3_000))}</style></head>
    <body><div class="box"><h1>${chance.pick(['One more step', 'Checking your browser', 'Before you continue'])}</h1><p>${chance.pick(['Please verify you are human to continue.', 'Please complete the security check below.', 'Confirm you are human.'])} ${chance.maybe(0.3, chance.prose(150))}</p>
    <form method="POST" action="/verify"><div class="cf-turnstile" data-sitekey="0x4${chance.hex(20)}" data-callback="ok"></div><input type="hidden" name="next" value="/">${chance.maybe(0.5, '<button type="submit">Continue</button>')}</form></div>
    <script>function ok(token){document.forms[0].submit()}</script></body></html>`,
});

const imperva: Maker = (chance) => ({
  status: chance.pick([200, 200, 403]),
  headers: [
    ['X-Iinfo', `${chance.between(1, 99)}-${chance.between(1e6, 9e6)}-0 0NNN`],
    ['X-CDN', 'Imperva'],
  ],
  html: chance.odds(0.5)
    ? `<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"><meta name="format-detection" content="telephone=no"><meta name="viewport" content="initial-scale=1.0">${chance.maybe(0.5, `<script type="text/javascript">${chance.script(900)}</script>`)}</head><body style="margin:0px;height:100%"><iframe id="main-iframe" src="/_Incapsula_Resource?SWUDNSAI=${chance.between(5, 40)}&xinfo=${chance.hex(30)}&incident_id=${chance.between(1e9, 9e9)}&edet=${chance.between(9, 23)}" frameborder=0 width="100%" height="100%" marginheight="0px" marginwidth="0px">Request unsuccessful. Incapsula incident ID: ${chance.between(1e9, 9e9)}-${chance.between(1e9, 9e9)}</iframe></body></html>`
    : `<html><head><META NAME="robots" CONTENT="noindex,nofollow"><script src="/_Incapsula_Resource?SWJIYLWA=${chance.hex(32)}"></script>${chance.maybe(0.6, `<script>${chance.script(chance.between(300, 5_000))}</script>`)}<body></body></html>`,
});

/** The door of Imperva that asks to be patient. */
const impervaPardon: Maker = (chance) => ({
  status: chance.pick([200, 200, 403]),
  html: `<!DOCTYPE html><html><head><noscript><title>Pardon Our Interruption</title></noscript><meta name="viewport" content="width=1000"><meta name="robots" content="noindex, nofollow"><meta http-equiv="cache-control" content="no-cache"><style>${chance.styles(chance.between(100, 2_000))}</style>
    <script>var isSpa = new URLSearchParams(window.location.search).get('X-SPA') === '1' || window.isImpervaSpaSupport;</script><script>function onProtectionInitialized(protection) { protection.cookieIsSet(10).then(function(){location.reload()}) } function showBlockPage() { document.title = "Pardon Our Interruption"; document.getElementById("interstitial-inprogress").style.display = "none" }</script>
    <script src="/${chance.word()}-${chance.word()}-${chance.hex(8)}?s=${chance.hex(8)}" async></script></head><body><div class="container" id="interstitial-inprogress"><div>Pardon Our Interruption</div></div>
    <div class="container"><h1>Pardon Our Interruption</h1><p>As you were browsing something about your browser made us think you were a bot. There are a few reasons this might happen:</p><ul><li>You've disabled JavaScript in your web browser.</li><li>You're a power user moving through this website with super-human speed.</li><li>A third-party browser plugin is preventing JavaScript from running.</li></ul><p>To regain access, please make sure that cookies and JavaScript are enabled before reloading the page.</p></div></body></html>`,
});

const dataDome: Maker = (chance) => ({
  status: chance.pick([403, 403, 200]),
  headers: [
    ['X-DataDome', 'protected'],
    ['X-DD-B', '1'],
  ],
  html: `<html lang="en"><head><title>${chance.word()}.example</title><style>#cmsg{animation: A 1.5s;}@keyframes A{0%{opacity:0;}99%{opacity:0;}100%{opacity:1;}}</style></head><body style="margin:0"><p id="cmsg">${chance.pick(['Please enable JS and disable any ad blocker', 'Bitte aktivieren Sie JS und deaktivieren Sie Ihren Adblocker', 'Veuillez activer JS et désactiver tout bloqueur de publicités'])}</p>
    <script data-cfasync="false">var dd={'rt':'${chance.pick(['c', 'i'])}','cid':'${chance.hex(60)}','hsh':'${chance.hex(30)}','t':'fe','s':${chance.between(1e3, 9e4)},'e':'${chance.hex(60)}','host':'geo.captcha-delivery.com','cookie':'${chance.hex(60)}'}</script><script data-cfasync="false" src="https://ct.captcha-delivery.com/${chance.pick(['c', 'i'])}.js"></script></body></html>`,
});

const human: Maker = (chance) => ({
  status: chance.pick([403, 403, 200]),
  html: `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="description" content="px-captcha"><title>${chance.pick(['Access to this page has been denied', 'Robot or human?', chance.name()])}</title><style>${chance.styles(chance.between(0, 4_000))}</style></head>
    <body>${chance.odds(0.6) ? `<h1>${chance.pick(['Press & Hold to confirm you are a human (and not a bot).', 'Activate and hold the button to confirm that you’re human. Thank You!'])}</h1><div id="px-captcha-wrapper"><div id="px-captcha"></div></div><p>Reference ID ${chance.hex(32)}</p>` : ''}
    <script>window._pxVid = ''; window._pxUuid = '${chance.hex(32)}'; window._pxAppId = 'PX${chance.hex(8)}'; window._pxHostUrl = '/${chance.hex(8)}/xhr'; window._pxJsClientSrc = '/${chance.hex(8)}/init.js'; window._pxFirstPartyEnabled = true;
    var script = document.createElement('script'); script.src = '/${chance.hex(8)}/captcha/captcha.js?a=c&u=${chance.hex(32)}&m=0'; script.onerror = function(){ script = document.createElement('script'); script.src = 'https://captcha.px-cloud.net/PX${chance.hex(8)}/captcha.js' }; document.head.appendChild(script);</script></body></html>`,
});

const akamai: Maker = (chance) => ({
  status: chance.pick([200, 200, 429, 403]),
  html: chance.odds(0.5)
    ? `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${chance.pick(['Challenge Validation', '&nbsp;'])}</title><link rel="stylesheet" type="text/css" href="/_sec/cp_challenge/sec-4-4.css"><script type="text/javascript">function cp_clge_done(){location.reload(true);}</script><script src="/_sec/cp_challenge/sec-cpt-int-4-4.js" async defer></script><script type="text/javascript">sessionStorage.setItem('data-duration', ${chance.between(3, 30)});</script></head>
       <body><div class="sec-container"><div id="sec-text-container"></div><div id="sec-if-container"><div id="sec-if-cpt-container" class="crypto" provider="crypto" data-key="" data-duration=${chance.between(3, 30)} challenge="${chance.hex(chance.between(200, 600))}"></div></div></div></body></html>`
    : `<html><head><meta http-equiv="refresh" content="5; URL='/?bm-verify=${chance.hex(chance.between(60, 300))}'" /><title>&nbsp;</title></head><body><img src="/akam/13/pixel_${chance.hex(8)}?a=${chance.hex(30)}" style="visibility: hidden; position: absolute; left: -999px; top: -999px;" /><script>var i = ${chance.between(1e6, 9e8)}; var j = i + Number("${chance.between(100, 999)}" + "${chance.between(1e3, 9e4)}"); var xhr = new XMLHttpRequest(); xhr.open("POST", "/_sec/verify?provider=interstitial", false); xhr.setRequestHeader("Content-Type", "application/json"); xhr.send(JSON.stringify({"bm-verify": "${chance.hex(60)}", "pow": j})); location.reload(true);</script></body></html>`,
});

const awsWaf: Maker = (chance) => ({
  status: chance.pick([202, 200, 405]),
  headers: chance.odds(0.4) ? [['x-amzn-waf-action', chance.pick(['challenge', 'captcha'])]] : [],
  html: `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${chance.odds(0.5) ? '' : 'Human Verification'}</title><style>body{font-family:"Arial"}</style><script type="text/javascript">window.awsWafCookieDomainList = [${chance.maybe(0.3, `'${chance.word()}.example'`)}];window.gokuProps = {"key":"${chance.hex(300)}","iv":"${chance.hex(16)}","context":"${chance.hex(300)}"};</script>
    <script src="https://${chance.hex(12)}.${chance.hex(8)}.us-east-1.token.awswaf.com/${chance.hex(12)}/${chance.hex(12)}/${chance.hex(12)}/challenge.js"></script></head><body><div id="challenge-container"></div>
    <script type="text/javascript">AwsWafIntegration.saveReferrer();AwsWafIntegration.checkForceRefresh().then((forceRefresh) => {if (forceRefresh) {AwsWafIntegration.forceRefreshToken().then(() => {window.location.reload(true);});} else {AwsWafIntegration.getToken().then(() => {window.location.reload(true);});}});</script>
    <noscript><h1>JavaScript is disabled</h1>In order to continue, we need to verify that you're not a robot. This requires JavaScript. Enable JavaScript and then reload the page.</noscript></body></html>`,
});

const ddosGuard: Maker = (chance) => ({
  status: waitStatus(chance),
  headers: [['Server', 'ddos-guard']],
  html: `<!DOCTYPE html><html><head><meta charset="utf-8"><title>DDOS-GUARD</title><meta name="viewport" content="width=device-width"><style>${chance.styles(chance.between(100, 4_000))}</style></head><body><div class="container"><h1 id="title">${chance.pick(['Checking your browser before accessing', 'Проверка браузера перед переходом на'])} ${chance.word()}.example</h1><p id="description">${chance.maybe(0.6, chance.prose(chance.between(60, 300)))}</p></div>
    <script>!function(){var e=document.createElement("script");e.src="/.well-known/ddos-guard/js-challenge/index.js";document.body.appendChild(e)}();</script></body></html>`,
});

const sucuri: Maker = (chance) => ({
  status: chance.pick([200, 307, 403].filter((status) => status !== 307)),
  headers: chance.odds(0.5) ? [['X-Sucuri-ID', '15005']] : [],
  html: `<html><title>You are being redirected...</title><noscript>Javascript is required. Please enable javascript before you are allowed to see this page.</noscript><script>var s={},u,c,U,r,i,l=0,a,e=eval,w=String.fromCharCode,sucuri_cloudproxy_js='',S='${chance.hex(chance.between(200, 900))}';L=S.length;U=0;r='';${chance.script(300)}e(r);</script></html>`,
});

const kasada: Maker = (chance) => ({
  status: chance.pick([429, 200, 403]),
  headers: [['x-kpsdk-ct', chance.hex(60)]],
  html: `<!DOCTYPE html><html><head></head><body><script>window.KPSDK={};KPSDK.now=typeof performance!=='undefined'&&performance.now?performance.now.bind(performance):Date.now.bind(Date);KPSDK.start=KPSDK.now();</script><script src="/149e9513-01fa-4fb0-aad4-566afd725d1b/2d206a39-8ed7-437e-a3be-862e0f06eea3/ips.js?KP_UIDz=${chance.hex(60)}&x-kpsdk-im=${chance.hex(40)}"></script></body></html>`,
});

const anubis: Maker = (chance) => ({
  status: chance.pick([200, 200, 401]),
  html: `<!doctype html><html lang="en"><head><title>${chance.pick(["Making sure you're not a bot!", 'Making sure you&#39;re not a bot!', 'Sicherstellen, dass Sie kein Bot sind!'])}</title><link rel="stylesheet" href="/.within.website/x/xess/xess.min.css?cachebuster=${chance.between(1, 9)}"><meta name="viewport" content="width=device-width, initial-scale=1.0"><meta name="robots" content="noindex,nofollow"><style>${chance.styles(600)}</style>
    <script id="anubis_version" type="application/json">"v1.${chance.between(14, 24)}.0"</script><script id="anubis_challenge" type="application/json">{"rules":{"algorithm":"fast","difficulty":${chance.between(2, 5)}},"challenge":"${chance.hex(64)}"}</script></head>
    <body id="top"><main><center><h1 id="title" class="centered-div">Making sure you're not a bot!</h1></center><div class="centered-div"><img id="image" style="width:100%;max-width:256px;" src="/.within.website/x/cmd/anubis/static/img/pensive.webp"/><p id="status">Loading...</p><script async type="module" src="/.within.website/x/cmd/anubis/static/js/main.mjs"></script><details><p>You are seeing this because the administrator of this website has set up Anubis to protect the server. ${chance.prose(chance.between(300, 900))}</p></details><noscript><p>Sadly, you must enable JavaScript to get past this challenge.</p></noscript></div>
    <footer><p>Protected by <a href="https://anubis.techaro.lol/">Anubis</a>.</p></footer></main></body></html>`,
});

const f5: Maker = (chance) => ({
  html: `<!DOCTYPE html><html><head><meta http-equiv="Pragma" content="no-cache"/><meta http-equiv="Expires" content="-1"/><script type="text/javascript">${chance.script(200)}window["bobcmn"] = "${chance.hex(chance.between(200, 3_000))}";window["failureConfig"]="${chance.hex(60)}";</script><script type="text/javascript" src="/TSPD/${chance.hex(60)}?type=${chance.between(7, 17)}"></script><noscript>Please enable JavaScript to view the page content.<br/>Your support ID is: ${chance.between(1e9, 9e9)}.</noscript></head><body></body></html>`,
});

const testCookie: Maker = (chance) => ({
  html: `<html><body><script type="text/javascript" src="/aes.js" ></script><script>function toNumbers(d){var e=[];d.replace(/(..)/g,function(d){e.push(parseInt(d,16))});return e}function toHex(){for(var d=[],d=1==arguments.length&&arguments[0].constructor==Array?arguments[0]:arguments,e="",f=0;f<d.length;f++)e+=(16>d[f]?"0":"")+d[f].toString(16);return e.toLowerCase()}var a=toNumbers("${chance.hex(32)}"),b=toNumbers("${chance.hex(32)}"),c=toNumbers("${chance.hex(32)}");document.cookie="__test="+toHex(slowAES.decrypt(c,2,a,b))+"; expires=Thu, 31-Dec-37 23:55:55 GMT; path=/"; location.href="http://${chance.word()}.example/?i=1";</script><noscript>This site requires Javascript to work, please enable Javascript in your browser or use a browser with Javascript support</noscript></body></html>`,
});

const siteCaptcha: Maker = (chance) => ({
  status: chance.pick([200, 202]),
  html: `<html><head><link rel="icon" href="data:;"><meta http-equiv="refresh" content="0;/.well-known/sgcaptcha/?r=%2F${chance.word()}&y=ipr:192.0.2.1:${chance.between(1e9, 2e9)}.${chance.between(100, 999)}"></meta></head></html>`,
});

const recaptchaWall: Maker = (chance) => ({
  status: chance.pick([200, 429, 403]),
  html: `<html><head><meta http-equiv="content-type" content="text/html; charset=utf-8"><title>${chance.pick(['https://www.search.example/', 'Are you a robot?', 'Unusual traffic', 'Captcha'])}</title></head><body><div style="max-width:400px;margin:0 auto"><script src="https://www.google.com/recaptcha/api.js" async defer></script>
    <form id="captcha-form" action="${chance.pick(['index', '/check', '/captcha'])}" method="post"><div id="recaptcha" class="g-recaptcha" data-sitekey="6L${chance.hex(38)}" data-callback="submitCallback"></div><input type='hidden' name='q' value='${chance.hex(80)}'><input type="hidden" name="continue" value="/"></form>
    <hr><div><b>About this page</b><br><br>Our systems have detected unusual traffic from your computer network. This page checks to see if it's really you sending the requests, and not a robot. ${chance.maybe(0.5, chance.prose(chance.between(100, 300)))}<br>IP address: 192.0.2.1</div></div></body></html>`,
});

const shopCaptcha: Maker = (chance) => ({
  html: `<!DOCTYPE html><html class="a-no-js" lang="en-us"><head><title dir="ltr">${chance.name()}.example</title><script>${chance.script(chance.between(200, 2_000))}</script></head><body><div class="a-container"><h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not a robot. For best results, please make sure your browser is accepting cookies.</p>
    <form method="get" action="/errors/validateCaptcha" name=""><input type=hidden name="amzn" value="${chance.hex(40)}"/><input type=hidden name="amzn-r" value="/"/><img src="https://images.shop.example/captcha/${chance.hex(8)}/Captcha_${chance.hex(8)}.jpg"><input autocomplete="off" spellcheck="false" id="captchacharacters" name="field-keywords" type="text"><button type="submit">Continue shopping</button></form><div><a href="/gp/help/cou">Conditions of Use</a> <a href="/gp/help/privacy">Privacy Policy</a></div></div></body></html>`,
});

/** Nobody's in particular: a site's own script that proves its reader a browser. */
const homeMade: Maker = (chance) => ({
  status: waitStatus(chance),
  html: `<!DOCTYPE html><html><head><meta charset="utf-8"><title>${chance.pick(['Checking your browser', 'One moment, please...', 'Verifying...', 'Security check', chance.name()])}</title><style>${chance.styles(chance.between(50, 2_500))}</style></head><body><div class="spinner"></div><h1>${chance.pick(['Checking your browser', 'Please wait while we are verifying your browser', 'We are checking the security of your connection', 'DDoS protection by the administrators'])}</h1>${chance.maybe(0.5, '<p>Your browser will redirect to the page in a few seconds.</p>')}
    <noscript><p>${chance.pick(['Please enable JavaScript and cookies.', 'You must enable JavaScript to pass.'])}</p></noscript><script>${chance.script(chance.between(300, 20_000))}</script></body></html>`,
});

const hcaptchaWall: Maker = (chance) => ({
  status: waitStatus(chance),
  html: `<html><head><title>${chance.pick(['Captcha', 'Verification required', 'Security check', 'Access denied'])}</title><script src="https://js.hcaptcha.com/1/api.js" async defer></script></head><body><h2>${chance.pick(['Please complete the captcha', 'To continue, verify that you are not a robot', 'Vérifier que vous êtes humain'])}</h2><form method=post>${chance.times(1, 3, () => `<input type=hidden name=${chance.word()} value=${chance.hex(20)}>`)}<div class="h-captcha" data-sitekey="${chance.hex(32)}"></div></form><p>${chance.maybe(0.6, chance.prose(chance.between(40, 250)))}</p></body></html>`,
});

const vercel: Maker = (chance) => ({
  status: chance.pick([429, 403, 200]),
  headers: chance.odds(0.5) ? [['x-vercel-mitigated', 'challenge']] : [],
  html: `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Vercel Security Checkpoint</title><style>${chance.styles(1_500)}</style><script type="module">${chance.script(chance.between(2_000, 30_000))};fetch("/.well-known/vercel/security/request-challenge",{method:"POST"})</script></head><body><div id="root"><div id="header-text">We're verifying your browser</div><div id="fix-container"><a id="fix-text" href="https://vercel.link/security-checkpoint">Website owner? Click here to fix</a></div><noscript>Enable JavaScript to continue</noscript></div></body></html>`,
});

const geetest: Maker = (chance) => ({
  status: chance.pick([200, 405]),
  html: `<!doctypehtml><html><head><meta charset="utf-8"><title>${chance.pick(['滑动验证页面', 'Captcha Interception', ''])}</title><script>var _config_ = {"${chance.word()}":"${chance.hex(40)}","acw_sc__v2":"${chance.hex(40)}"};</script></head><body data-spm="a3c0i"><script src="https://g.cdn.example/AWSC/uab.js"></script><div id="nocaptcha">${chance.maybe(0.5, '请按住滑块，拖动到最右边')}</div><script>${chance.script(chance.between(300, 3_000))};var u="/_____tmd_____/verify/?nc_token="+encodeURIComponent("${chance.hex(20)}");</script></body></html>`,
});

export const CHALLENGES: Readonly<Record<string, Maker>> = {
  cloudflareManaged,
  cloudflareFiveSeconds,
  cloudflareBlock,
  turnstileGate,
  imperva,
  impervaPardon,
  dataDome,
  human,
  akamai,
  awsWaf,
  ddosGuard,
  sucuri,
  kasada,
  anubis,
  f5,
  testCookie,
  siteCaptcha,
  recaptchaWall,
  shopCaptcha,
  homeMade,
  hcaptchaWall,
  vercel,
  geetest,
};
