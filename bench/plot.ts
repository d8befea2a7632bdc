/** Curves as an SVG image: what a bench has measured, to be looked at. Drawn by echarts, which needs no browser for it. */
import { init } from 'echarts';

export interface Curve {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly isDashed?: boolean;
}

export interface Axes {
  readonly title: string;
  /** With its unit. */
  readonly x: string;
  readonly y: string;
  /** Upright lines at moments that matter. */
  readonly marks?: readonly { readonly at: number; readonly name: string }[];
}

const [WIDTH, HEIGHT] = [960, 540];
/** More are not seen on an image of this width. */
const POINTS_MAX = 600;

export function plotCurves({ title, x, y, marks = [] }: Axes, curves: readonly Curve[]): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT });
  const axis = (name: string) => ({ type: 'value' as const, name, nameLocation: 'middle' as const });
  const markLine = {
    symbol: 'none',
    label: { formatter: '{b}' },
    data: marks.map(({ at, name }) => ({ xAxis: at, name })),
  };
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    title: { text: title, left: 'center' },
    legend: { top: 40 },
    grid: { top: 100, bottom: 60, left: 80, right: 40 },
    xAxis: { ...axis(x), nameGap: 30 },
    yAxis: { ...axis(y), nameGap: 50 },
    series: curves.map(({ name, points, isDashed = false }, n) => ({
      name,
      type: 'line' as const,
      showSymbol: points.length === 1,
      lineStyle: { width: 2, type: isDashed ? ('dashed' as const) : ('solid' as const) },
      data: thinned(points).map(([at, value]) => [at, value]),
      ...(n === 0 && marks.length > 0 ? { markLine } : {}),
    })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

/** The first and the last one stay. */
function thinned<Point>(points: readonly Point[]): readonly Point[] {
  const every = Math.ceil(points.length / POINTS_MAX);
  return points.filter((_, n) => n % every === 0 || n === points.length - 1);
}
