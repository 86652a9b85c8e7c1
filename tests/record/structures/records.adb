--  Records of Ada, for the comparison with gdb.
with Ada.Text_IO; use Ada.Text_IO;
with Interfaces;  use Interfaces;
procedure Records is
   type Colour is (Red, Green, Blue);
   type Small is range 0 .. 100;
   type Point is record
      Kind : Unsigned_8;
      X, Y : Long_Float;
   end record;
   type Points is array (1 .. 5) of Point;
   type Flags is record
      A : Boolean;
      B : Colour;
      C : Small;
   end record;
   for Flags use record
      A at 0 range 0 .. 0;
      B at 0 range 1 .. 3;
      C at 1 range 0 .. 7;
   end record;
   for Flags'Size use 16;
   type Shape (Is_Round : Boolean := False) is record
      Area : Float;
      case Is_Round is
         when True =>
            Radius : Long_Float;
         when False =>
            Width  : Unsigned_16;
            Height : Unsigned_16;
      end case;
   end record;
   type Root is tagged record
      Id : Integer;
   end record;
   type Child is new Root with record
      Extra : Unsigned_8;
      Many  : Points;
   end record;
   type Whole is record
      F : Flags;
      P : Points;
      S : Shape;
      C : Child;
   end record;
   W : Whole;
begin
   W.F := (True, Green, 3);
   W.P (1).X := 1.0;
   W.S := (True, 2.0, 3.0);
   W.C.Id := 4;
   Put_Line (Integer'Image (W.C.Id) & Colour'Image (W.F.B) & Boolean'Image (W.S.Is_Round) & Long_Float'Image (W.P (1).X));
end Records;
