/**
 * What doors in front of pages are made of: the names, addresses and pieces of script that their makers gave them, and
 * the words that they say. Those who guard sites change these rarely, since their own scripts hang on them.
 *
 * Three weights. `sure`: nothing but a door has it. `likely`: doors have it, and pages that hold one in a corner (a
 * widget beside a form). `slight`: a page may well have it.
 */

export const WEIGHTS = { sure: 4, likely: 2, slight: 1 } as const;
export type Weight = keyof typeof WEIGHTS;

/**
 * Where a marker stands. `address`: of a script, frame, form, picture, link element or refresh. `code`: in a script that
 * runs, without white space. `name`: an id, a class, a field's name or a custom element, as a whole.
 */
export type MarkerPlace = 'address' | 'code' | 'name';

export interface Marker {
  readonly vendor: string;
  readonly weight: Weight;
  readonly places: readonly MarkerPlace[];
  /** In lower case, without white space. */
  readonly text: string;
  /** Followed by one of these soon, it is something else. */
  readonly unless?: readonly string[];
}

const CODE_AND_ADDRESS: readonly MarkerPlace[] = ['address', 'code'];
const ADDRESS: readonly MarkerPlace[] = ['address'];
const CODE: readonly MarkerPlace[] = ['code'];
const NAME: readonly MarkerPlace[] = ['name'];

function all(vendor: string, weight: Weight, places: readonly MarkerPlace[], texts: string): Marker[] {
  return texts.split(/\s+/).map((text) => ({ vendor, weight, places, text }));
}

export const MARKERS: readonly Marker[] = [
  {
    vendor: 'Cloudflare',
    weight: 'sure',
    places: CODE_AND_ADDRESS,
    text: '/cdn-cgi/challenge-platform/',
    // What counts browsers on ordinary pages.
    unless: ['/jsd/', 'invisible.js', '/scripts/'],
  },
  ...all(
    'Cloudflare',
    'sure',
    CODE_AND_ADDRESS,
    '_cf_chl_opt __cf_chl_ cf_chl_rc_ /cdn-cgi/challenge/ /cdn-cgi/l/chk_',
  ),
  ...all(
    'Cloudflare',
    'sure',
    NAME,
    'cf-browser-verification cf-challenge-running challenge-error-text cf-im-under-attack',
  ),
  ...all('Cloudflare', 'sure', NAME, 'cf-please-wait cf_captcha_kind cf-challenge-body-text cf-under-attack jschl_vc'),
  ...all('Cloudflare', 'likely', NAME, 'challenge-running challenge-stage cf-error-details cf-turnstile'),
  ...all('Cloudflare', 'slight', CODE_AND_ADDRESS, 'challenges.cloudflare.com/turnstile'),
  ...all('Imperva', 'sure', CODE_AND_ADDRESS, '_incapsula_resource?swudnsai _incapsula_resource?cwudnsai'),
  ...all('Imperva', 'likely', ADDRESS, '_incapsula_resource?swjiylwa'),
  ...all('Imperva', 'sure', CODE, 'showblockpage() onprotectioninitialized reese84interrogator'),
  ...all('DataDome', 'sure', CODE_AND_ADDRESS, 'captcha-delivery.com'),
  ...all('HUMAN', 'sure', NAME, 'px-captcha px-captcha-wrapper px-captcha-modal'),
  ...all(
    'HUMAN',
    'sure',
    CODE_AND_ADDRESS,
    'captcha.px-cdn.net captcha.px-cloud.net captcha.perimeterx.net window._pxblock',
  ),
  ...all('Akamai', 'sure', CODE_AND_ADDRESS, '/_sec/cp_challenge/ bm-verify= /_sec/verify'),
  ...all('Akamai', 'sure', NAME, 'sec-if-cpt-container sec-cpt-if sec-container'),
  ...all(
    'AWS WAF',
    'sure',
    CODE,
    'awswafintegration.savereferrer( awswafintegration.forcerefreshtoken( awswafcaptcha.rendercaptcha( window.gokuprops=',
  ),
  ...all('AWS WAF', 'slight', ADDRESS, '.awswaf.com/'),
  ...all('DDoS-Guard', 'sure', CODE_AND_ADDRESS, '/.well-known/ddos-guard/'),
  ...all('Sucuri', 'sure', CODE, 'sucuri_cloudproxy_js'),
  ...all('Kasada', 'sure', CODE, 'window.kpsdk= kpsdk.scriptstart='),
  ...all('Kasada', 'sure', ADDRESS, '/149e9513-01fa-4fb0-aad4-566afd725d1b/'),
  ...all('F5', 'sure', CODE_AND_ADDRESS, '/tspd/ window["bobcmn"] window[\'bobcmn\']'),
  ...all('Radware', 'sure', CODE_AND_ADDRESS, 'validate.perfdrive.com cdn.perfdrive.com/aperture'),
  ...all('Reblaze', 'sure', CODE, 'window.rbzns= rbzns.challdata'),
  ...all('Anubis', 'sure', ADDRESS, '/.within.website/x/cmd/anubis/'),
  ...all('Anubis', 'sure', NAME, 'anubis_challenge anubis_version'),
  ...all('go-away', 'sure', CODE_AND_ADDRESS, '/git/go-away/cmd/go-away/ /.well-known/.git.gammaspectra.live/'),
  ...all('SiteGround', 'sure', CODE_AND_ADDRESS, '/.well-known/sgcaptcha/ /.well-known/captcha/?'),
  ...all('Vercel', 'sure', CODE_AND_ADDRESS, '/.well-known/vercel/security/'),
  ...all('testcookie', 'sure', CODE, 'slowaes.decrypt(tonumbers tohex(slowaes.decrypt('),
  ...all('Alibaba', 'sure', CODE_AND_ADDRESS, '/_____tmd_____/ acw_sc__v2'),
  ...all('Qrator', 'sure', CODE_AND_ADDRESS, '/__qrator/qauth'),
  ...all('HAProxy protection', 'sure', CODE_AND_ADDRESS, '/.basedflare/ /.hap-protection/'),
  ...all('Amazon', 'sure', ADDRESS, '/errors/validatecaptcha'),
  ...all('Google', 'sure', ADDRESS, '/sorry/index?'),
  ...all('Google', 'likely', NAME, 'captcha-form g-recaptcha'),
  ...all('Google', 'slight', ADDRESS, 'google.com/recaptcha/ recaptcha.net/recaptcha/'),
  ...all('hCaptcha', 'likely', NAME, 'h-captcha'),
  ...all('hCaptcha', 'slight', ADDRESS, 'hcaptcha.com/1/api.js'),
  ...all('GeeTest', 'likely', CODE, 'initgeetest'),
  ...all('GeeTest', 'slight', ADDRESS, 'geetest.com/'),
  ...all('Arkose', 'slight', ADDRESS, 'arkoselabs.com/ funcaptcha.com/'),
  ...all('nobody in particular', 'likely', NAME, 'captcha captcha-container captcha-box nocaptcha slider-captcha'),
  ...all('nobody in particular', 'slight', ADDRESS, 'captcha'),
  ...all('ALTCHA', 'likely', NAME, 'altcha-widget'),
  ...all('Friendly Captcha', 'likely', NAME, 'frc-captcha'),
];

/** Headers that a door is sent with: `name` or `name: value`. */
export const HEADERS: readonly string[] = [
  'cf-mitigated: challenge',
  'x-amzn-waf-action: challenge',
  'x-amzn-waf-action: captcha',
  'x-vercel-mitigated: challenge',
  'x-sucuri-block',
  'x-vercel-challenge-token',
];

/** Headers that speak for a door where the status refuses. */
export const REFUSAL_HEADERS: readonly string[] = ['x-datadome', 'x-dd-b', 'x-px-block', 'x-kpsdk-ct', 'x-iinfo'];

/** Whole titles, in lower case, an ellipsis as three points. */
export const TITLES: ReadonlyMap<string, Weight> = new Map<string, Weight>([
  ...titles(
    'sure',
    `just a moment...|attention required! | cloudflare|ddos-guard|making sure you're not a bot!|vercel security checkpoint
    ddos protection by cloudflare|please wait... | cloudflare|access denied | cloudflare|pardon our interruption
    access to this page has been denied|access to this page has been denied.|incapsula incident|checking your browser
    sucuri website firewall - access denied|human verification|robot or human?|verify you are human
    einen moment, bitte...|nur einen moment...|un instant...|un momento...|um momento...|один момент...|请稍候...|请稍候
    しばらくお待ちください...|잠시만 기다리십시오...|잠시만 기다려 주세요...|een moment geduld...|bir dakika lütfen...|chwileczkę...|vent et øjeblik...
    ett ögonblick...|please verify you are a human|are you a robot?|bot verification|one moment, please...`,
  ),
  ...titles(
    'likely',
    `security check|security verification|captcha|human check|access denied|verification required|client challenge
    checking your connection|unusual traffic|are you human?|validation request|challenge validation|bot challenge`,
  ),
  ...titles(
    'slight',
    'please wait...|one moment...|loading...|please wait|redirecting...|403 forbidden|forbidden|blocked',
  ),
]);

function titles(weight: Weight, lines: string): [string, Weight][] {
  return lines
    .replace(/ \| cloudflare/g, '\0')
    .split(/[|\n]/)
    .map((title) => [title.replace('\0', ' | cloudflare').trim(), weight]);
}

/** What doors say, in lower case. */
export const PHRASES: readonly string[] = [
  'enable javascript and cookies',
  'enable js and disable any ad blocker',
  'javascript and cookies to be enabled',
  'checking your browser',
  'checking if the site connection is secure',
  'verify you are human',
  'verify that you are human',
  'verify that you are not a robot',
  "verify you're human",
  'verifying you are human',
  'prove that you are human',
  'confirm you are human',
  'confirm that you are human',
  "confirm you're not a robot",
  'you are not a robot',
  "you're not a robot",
  "you're not a bot",
  'you are not a bot',
  'review the security of your connection',
  'complete the security check',
  'ddos protection by',
  'ddos attack protection',
  'unusual traffic',
  "i'm not a robot",
  'i am not a robot',
  'bot protection',
  'automated requests',
  'access to this page has been denied',
  'press & hold',
  'press and hold',
  'pardon our interruption',
  'incapsula incident id',
  'something about your browser made us think',
  'solve the captcha',
  'complete the captcha',
  'checking the security of your',
  'verifying your browser',
  'validating your browser',
  'your browser will redirect',
  'dass sie ein mensch sind',
  'überprüfung ihres browsers',
  'ihr browser wird überprüft',
  'vérifier que vous êtes humain',
  "vérifier que vous n'êtes pas un robot",
  'vérification de votre navigateur',
  'verifique que es un ser humano',
  'verificar que no es un robot',
  'comprobando su navegador',
  'verifique se você é humano',
  'verificando seu navegador',
  'проверка браузера',
  'я не робот',
  'а не робот',
  'что вы не робот',
  'похожи на автоматические',
  'подтвердите, что вы не робот',
  'подтвердите, что вы человек',
  '确认您是真人',
  '安全验证',
  '完成验证',
  '人机验证',
  '滑动验证',
  '正在验证您是否是真人',
  '正在检查您的浏览器',
  '人間であることを確認',
  '사람인지 확인',
];

/** What a page says that asks for scripts to be switched on, in lower case. */
export const SCRIPT_PLEAS: readonly RegExp[] = [
  /(?:enable|activate|turn on|require|need|without|use|support|allow)\w*\b.{0,40}\bjava ?script/,
  /java ?script\b.{0,60}\b(?:enabled?|activated?|required?|turned on|disabled|needed|support)/,
  /java ?script\b.{0,60}(?:aktivier|aktiv|erforderlich|benötigt|activer|activé|requis|nécessaire|activar|activado|habilit|necesar|richiest|abilit|włącz|включ|etkin|inschakel|ingeschakeld)/,
  /(?:aktivier|benötig|activer|activez|active|activar|habilit|necesita|abilit|włącz|включ|nécessite).{0,60}java ?script/,
  /java ?script.{0,20}(?:启用|有効|활성|필요|必要)|(?:启用|请开启|需要).{0,10}java ?script/,
];

/** What stands in a page while its scripts work, in lower case. */
export const LOADING_WORDS =
  /load|wait|moment|redirect|initiali[sz]|starting|preparing|laden|lädt|geladen|chargement|cargando|carregando|загруз|加载|加載|載入|読み込み|로딩|불러오는|caricamento|ładowanie|yükleniyor|geduld|bitte warten|patient/;
