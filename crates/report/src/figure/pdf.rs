//! From a scene to a PDF: one page of the scene's size, text as text, with the letters that it uses
//! embedded. Equal scenes give equal bytes.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use subsetter::{GlyphRemapper, subset};

use super::font;
use super::palette::{Colour, WHITE};
use super::precision::single;
use super::scene::{Anchor, BAND, Place, Scene, Shape};
use flitlab_base::narrow::narrow;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const FONT: Ref = Ref::new(5);
const CID_FONT: Ref = Ref::new(6);
const DESCRIPTOR: Ref = Ref::new(7);
const FONT_FILE: Ref = Ref::new(8);
const UNICODE: Ref = Ref::new(9);
const TRANSLUCENT: Ref = Ref::new(10);
const INFORMATION: Ref = Ref::new(11);

/// The name of the page's font, and of its way to draw a band.
const FONT_NAME: Name<'_> = Name(b"F");
const BAND_NAME: Name<'_> = Name(b"B");

/// The font's name with the tag that subsets have.
const BASE_FONT: Name<'_> = Name(b"FLITLB+LiberationSans");

const SYSTEM: SystemInfo<'_> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// A quarter circle as a Bezier curve: where its inner points lie.
const ARC: f64 = 0.552_284_75;

/// The bytes of a PDF file with this title.
pub(super) fn pdf(scene: &Scene, title: &str) -> Result<Vec<u8>, String> {
    let mut page =
        Page { height: scene.height, content: Content::new(), letters: Letters::default() };
    page.colour(WHITE);
    page.content.rect(0.0, 0.0, single(scene.width), single(scene.height)).fill_nonzero();
    for shape in &scene.shapes {
        page.draw(shape);
    }
    let Page { content, letters, .. } = page;
    let size = Rect::new(0.0, 0.0, single(scene.width), single(scene.height));
    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let mut leaf = pdf.page(PAGE);
    leaf.media_box(size).parent(PAGES).contents(CONTENT);
    let mut resources = leaf.resources();
    resources.fonts().pair(FONT_NAME, FONT);
    resources.ext_g_states().pair(BAND_NAME, TRANSLUCENT);
    resources.finish();
    leaf.finish();
    pdf.ext_graphics(TRANSLUCENT).non_stroking_alpha(single(BAND));
    let content = packed(&content.finish());
    pdf.stream(CONTENT, &content).filter(Filter::FlateDecode);
    letters.write(&mut pdf)?;
    let mut information = pdf.document_info(INFORMATION);
    if !title.is_empty() {
        information.title(TextStr(title));
    }
    information.producer(TextStr(concat!("flitlab ", env!("CARGO_PKG_VERSION"))));
    information.finish();
    Ok(pdf.finish())
}

/// The page as it is drawn; y runs upwards in it.
struct Page {
    height: f64,
    content: Content,
    letters: Letters,
}

impl Page {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Line { points, width, colour } => {
                let [red, green, blue] = levels(*colour);
                self.content.set_stroke_rgb(red, green, blue).set_line_width(single(*width));
                self.content.set_line_join(pdf_writer::types::LineJoinStyle::RoundJoin);
                self.path(points);
                self.content.stroke();
            }
            Shape::Area { outline, colour, opacity } => {
                let translucent = *opacity < 1.0;
                if translucent {
                    self.content.save_state().set_parameters(BAND_NAME);
                }
                self.colour(*colour);
                self.path(outline);
                self.content.close_path().fill_nonzero();
                if translucent {
                    self.content.restore_state();
                }
            }
            Shape::Disc { centre, radius, colour } => {
                self.colour(*colour);
                self.circle(*centre, *radius);
            }
            Shape::Text { text, place, size, anchor, upwards, colour } => {
                self.colour(*colour);
                let width = font::width(text, *size);
                let before = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => width / 2.0,
                    Anchor::End => width,
                };
                let (x, y) = self.place(*place);
                let before = single(before);
                let matrix = if *upwards {
                    [0.0, 1.0, -1.0, 0.0, x, y - before]
                } else {
                    [1.0, 0.0, 0.0, 1.0, x - before, y]
                };
                let codes = self.letters.codes(text);
                self.content
                    .begin_text()
                    .set_font(FONT_NAME, single(*size))
                    .set_text_matrix(matrix);
                self.content.show(Str(&codes)).end_text();
            }
        }
    }

    fn place(&self, (x, y): Place) -> (f32, f32) {
        (single(x), single(self.height - y))
    }

    fn colour(&mut self, colour: Colour) {
        let [red, green, blue] = levels(colour);
        self.content.set_fill_rgb(red, green, blue);
    }

    fn path(&mut self, points: &[Place]) {
        for (number, &point) in points.iter().enumerate() {
            let (x, y) = self.place(point);
            if number == 0 {
                self.content.move_to(x, y);
            } else {
                self.content.line_to(x, y);
            }
        }
    }

    fn circle(&mut self, centre: Place, radius: f64) {
        let at = |across: f64, up: f64| {
            let (x, y) = (centre.0 + radius * across, centre.1 - radius * up);
            (single(x), single(self.height - y))
        };
        let quarters = [
            [(1.0, ARC), (ARC, 1.0), (0.0, 1.0)],
            [(-ARC, 1.0), (-1.0, ARC), (-1.0, 0.0)],
            [(-1.0, -ARC), (-ARC, -1.0), (0.0, -1.0)],
            [(ARC, -1.0), (1.0, -ARC), (1.0, 0.0)],
        ];
        let quarters = quarters.map(|quarter| quarter.map(|(across, up)| at(across, up)));
        let start = at(1.0, 0.0);
        self.content.move_to(start.0, start.1);
        for [first, second, end] in quarters {
            self.content.cubic_to(first.0, first.1, second.0, second.1, end.0, end.1);
        }
        self.content.close_path().fill_nonzero();
    }
}

/// The letters that a page uses.
#[derive(Default)]
struct Letters {
    remapper: GlyphRemapper,
    /// By their number in the subset: letter and width.
    used: BTreeMap<u16, (char, f32)>,
}

impl Letters {
    /// A text as the font's codes, two bytes a letter.
    fn codes(&mut self, text: &str) -> Vec<u8> {
        let mut codes = Vec::new();
        for letter in text.chars() {
            let (glyph, width) = font::glyph(letter);
            let code = self.remapper.remap(glyph);
            self.used.insert(code, (letter, width));
            codes.extend(code.to_be_bytes());
        }
        codes
    }

    /// The font, cut down to these letters.
    fn write(&self, pdf: &mut Pdf) -> Result<(), String> {
        let subset = subset(font::FILE, 0, &self.remapper).map_err(|error| error.to_string())?;
        let file = packed(&subset);
        let mut unicode = UnicodeCmap::new(Name(b"Custom"), SYSTEM);
        for (&code, &(letter, _)) in &self.used {
            unicode.pair(code, letter);
        }
        pdf.type0_font(FONT)
            .base_font(BASE_FONT)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(CID_FONT)
            .to_unicode(UNICODE);
        let mut font = pdf.cid_font(CID_FONT);
        font.subtype(CidFontType::Type2).base_font(BASE_FONT).system_info(SYSTEM);
        font.font_descriptor(DESCRIPTOR).cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = font.widths();
        for (&code, &(_, width)) in &self.used {
            widths.same(code, code, width);
        }
        widths.finish();
        font.finish();
        // Liberation Sans: measures of the whole font, in thousandths of its size.
        pdf.font_descriptor(DESCRIPTOR)
            .name(BASE_FONT)
            .flags(FontFlags::NON_SYMBOLIC)
            .bbox(Rect::new(-544.0, -303.0, 1302.0, 980.0))
            .italic_angle(0.0)
            .ascent(905.0)
            .descent(-212.0)
            .cap_height(729.0)
            .stem_v(80.0)
            .font_file2(FONT_FILE);
        pdf.stream(FONT_FILE, &file)
            .filter(Filter::FlateDecode)
            .pair(Name(b"Length1"), narrow::<i32>(subset.len()));
        let unicode = packed(&unicode.finish());
        pdf.cmap(UNICODE, &unicode).filter(Filter::FlateDecode);
        Ok(())
    }
}

fn levels((red, green, blue): Colour) -> [f32; 3] {
    [red, green, blue].map(|level| f32::from(level) / 255.0)
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
    packer.write_all(bytes).and_then(|()| packer.finish()).expect("a buffer in memory")
}
